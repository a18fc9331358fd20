// Tests the health service through gRPC clients.

#include "server/collector/health_service.h"

#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>

#include "tests/server/collector/collector_story.h"

namespace telemetry::collector {
namespace {

// A Watch or Check call that blocks for each event.
class HealthCall {
 public:
  explicit HealthCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method = "Watch")
      : stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
    call_ = stub_.PrepareCall(&context_, "/grpc.health.v1.Health/" + method, &queue_);
    call_->StartCall(this);
    Await();
  }
  ~HealthCall() {
    context_.TryCancel();
    if (!finished_) Finish();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) continue;
  }

  bool Send(const std::string& service) {
    return SendBytes(service.empty() ? "" : std::string("\n") + static_cast<char>(service.size()) + service);
  }
  bool SendBytes(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call_->WriteLast(grpc::ByteBuffer(&slice, 1), {}, this);
    return Await();
  }
  // Returns the next status: 1 serving, 2 not serving, 3 unknown; 0 if the call has ended.
  int Read() {
    grpc::ByteBuffer response;
    call_->Read(&response, this);
    if (!Await()) return 0;
    std::vector<grpc::Slice> slices;
    EXPECT_TRUE(response.Dump(&slices).ok());
    std::string bytes;
    for (const grpc::Slice& slice : slices) bytes.append(slice.begin(), slice.end());
    EXPECT_EQ(bytes.size(), 2);
    return bytes.at(1);
  }
  grpc::StatusCode Finish() {
    grpc::Status status;
    finished_ = true;
    call_->Finish(&status, this);
    Await();
    return status.error_code();
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
};

class HealthServiceTest : public ::testing::Test {
 protected:
  HealthServiceTest() { Start(absl::Minutes(1)); }
  ~HealthServiceTest() override { Stop(); }

  void Start(absl::Duration open_timeout) {
    Stop();
    health_ = std::make_unique<HealthService>(calls_, open_timeout);
    grpc::ServerBuilder builder;
    builder.RegisterService(health_.get());
    queue_ = std::make_unique<call::CallQueue>(calls_);
    queue_->AddTo(builder);
    server_ = builder.BuildAndStart();
    health_->Start(*queue_);
    queue_->Start();
    channel_ = server_->InProcessChannel({});
  }
  void Stop() {
    if (server_ == nullptr) return;
    health_->Shutdown();
    server_->Shutdown();
    queue_->Stop();
    server_.reset();
  }

  uint64_t Running() {
    return calls_.CountCalls("/grpc.health.v1.Health/Check") + calls_.CountCalls("/grpc.health.v1.Health/Watch");
  }

  access::Gate gate_{nullptr};
  net::ReceiveMeter meter_{uint64_t{1} << 20};
  call::RunningCalls calls_{gate_, meter_, {}};
  std::unique_ptr<HealthService> health_;
  std::unique_ptr<call::CallQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(HealthServiceTest, ChecksAService) {
  health_->SetServingStatus("telemetry.v1.IngestService", false);
  for (const auto& [service, status] :
       {std::pair<const char*, int>("", 1), std::pair<const char*, int>("telemetry.v1.IngestService", 2)}) {
    HealthCall check(channel_, "Check");
    ASSERT_TRUE(check.Send(service));
    EXPECT_EQ(check.Read(), status) << service;
    EXPECT_EQ(check.Read(), 0);
    EXPECT_EQ(check.Finish(), grpc::StatusCode::OK);
  }
  HealthCall unknown(channel_, "Check");
  ASSERT_TRUE(unknown.Send("none"));
  EXPECT_EQ(unknown.Read(), 0);
  EXPECT_EQ(unknown.Finish(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthServiceTest, WatchesAService) {
  HealthCall watch(channel_);
  ASSERT_TRUE(watch.Send("a"));
  EXPECT_EQ(watch.Read(), 3);
  health_->SetServingStatus("a", true);
  EXPECT_EQ(watch.Read(), 1);
  health_->SetServingStatus("a", true);
  health_->SetServingStatus("b", false);
  health_->SetServingStatus(false);
  EXPECT_EQ(watch.Read(), 2);
}

TEST_F(HealthServiceTest, EndsWatchesWithTheServer) {
  HealthCall watch(channel_);
  ASSERT_TRUE(watch.Send(""));
  EXPECT_EQ(watch.Read(), 1);
  health_->Shutdown();
  EXPECT_EQ(watch.Read(), 2);
  EXPECT_EQ(watch.Read(), 0);
  EXPECT_EQ(watch.Finish(), grpc::StatusCode::UNAVAILABLE);
  health_->SetServingStatus("", true);
  EXPECT_EQ(HealthCall(channel_).Finish(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthServiceTest, EndsCallsWithoutARequest) {
  Start(absl::ZeroDuration());
  HealthCall silent(channel_, "Check");
  while (Running() == 0) continue;
  calls_.CheckTimes(SteadyNow());
  EXPECT_EQ(silent.Finish(), grpc::StatusCode::DEADLINE_EXCEEDED);
  while (Running() > 0) continue;
}

TEST_F(HealthServiceTest, RefusesWhatIsNoRequest) {
  for (const std::string& bytes : {std::string("\n\5abc"), std::string("\x0c"), "\n\xff\7" + std::string(1023, 'x')}) {
    HealthCall call(channel_);
    ASSERT_TRUE(call.SendBytes(bytes));
    EXPECT_EQ(call.Read(), 0);
    EXPECT_EQ(call.Finish(), grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(HealthServiceTest, LimitsTheCallsOfAnAddress) {
  std::list<HealthCall> watches;
  for (uint64_t i = 0; i < call::RunningCalls::kMaxHealthCallsPerSender; ++i) {
    ASSERT_TRUE(watches.emplace_back(channel_).Send(""));
    ASSERT_EQ(watches.back().Read(), 1);
  }
  EXPECT_EQ(HealthCall(channel_).Finish(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(HealthCall(channel_, "Check").Finish(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  watches.clear();
  while (Running() > 0) continue;
  HealthCall watch(channel_);
  ASSERT_TRUE(watch.Send(""));
  EXPECT_EQ(watch.Read(), 1);
}

}  // namespace
}  // namespace telemetry::collector
