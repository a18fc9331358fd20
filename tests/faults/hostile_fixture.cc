#include "tests/faults/hostile_fixture.h"

#include <grpcpp/create_channel.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/steady.h"
#include "tests/faults/attacks/unary_producer.h"

namespace telemetry::faults {

GoodClient::GoodClient(const std::string& address)
    : stub_(v1::IngestService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
  context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(5)));
  stream_ = stub_->Stream(&context_);
  v1::StreamRequest request;
  request.mutable_open()->set_producer_id("a good producer!");
  v1::StreamResponse response;
  EXPECT_TRUE(stream_->Write(request) && stream_->Read(&response)) << "a good client is not served";
  seq_ = response.opened().committed_seq();
}

GoodClient::~GoodClient() {
  context_.TryCancel();
  stream_->Finish();
}

bool GoodClient::Send() {
  v1::StreamRequest request;
  *request.mutable_batch() = MakeBatch(++seq_, AttemptRecord(20), 1);
  if (!stream_->Write(request)) return false;
  v1::StreamResponse response;
  while (stream_->Read(&response)) {
    if (response.ack().committed_seq() >= seq_) return true;
  }
  return false;
}

double GoodClient::P99Ms(int batches) {
  std::vector<double> times;
  for (int i = 0; i < batches; ++i) {
    const SteadyTime begin = SteadyNow();
    EXPECT_TRUE(Send()) << "a good client's stream ended";
    times.push_back(absl::ToDoubleMilliseconds(ElapsedSince(begin)));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() * 99 / 100];
}

std::vector<std::string> ShortTimes(int seconds) {
  if (FullSize()) return {};
  const char* const prefix = "TELEMETRY_COLLECTOR_";
  std::vector<std::string> variables;
  for (const char* name : {"HANDSHAKE_TIMEOUT", "OPEN_TIMEOUT", "UNREAD_TIMEOUT", "STREAM_IDLE_TIMEOUT",
                           "CONNECTION_IDLE_TIMEOUT", "KEEPALIVE_TIME"}) {
    variables.push_back(absl::StrCat(prefix, name, "=", seconds));
  }
  variables.push_back(absl::StrCat(prefix, "KEEPALIVE_TIMEOUT=1"));
  return variables;
}

absl::Duration MostTime() { return absl::Minutes(1); }

absl::Duration ServeNewClient(const std::string& address, absl::Duration patience) {
  static std::atomic<int> clients = 0;
  UnaryProducer producer(address, absl::StrCat("new client ", 10'000 + clients++));
  const SteadyTime begin = SteadyNow();
  v1::IngestResponse response;
  grpc::Status status;
  // A call that the collector ends is repeated, as producers do.
  do {
    status = producer.Send(MakeBatch(1, AttemptRecord(20), 1), patience - ElapsedSince(begin), &response);
    if (status.ok()) return ElapsedSince(begin);
  } while (ElapsedSince(begin) < patience);
  ADD_FAILURE() << "a new client is not served: " << status.error_message();
  return absl::InfiniteDuration();
}

HostileTest::HostileTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-hostile-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
}

HostileTest::~HostileTest() {
  collector_.reset();
  std::filesystem::remove_all(folder_);
}

void HostileTest::Start(const std::vector<std::string>& environment, uint64_t max_files) {
  bench::CollectorOptions options;
  options.environment = environment;
  options.max_files = max_files;
  collector_ =
      std::make_unique<bench::CollectorProcess>(bench::CollectorProcess::Start(folder_ + "/dataset.db", options));
  std::cout << "at the start: " << bench::PeakMib(collector_->pid()) << " MiB" << std::endl;
}

void HostileTest::ExpectSmallAndServing() {
  const double peak = bench::PeakMib(collector_->pid());
  std::cout << "peak: " << peak << " MiB" << std::endl;
  EXPECT_LT(peak, kMemoryMib);
  EXPECT_TRUE(GoodClient(collector_->address()).Send());
}

}  // namespace telemetry::faults
