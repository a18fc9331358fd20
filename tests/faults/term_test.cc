// SIGTERM under load: exit status 0 within 10 s, and what was acknowledged is stored.
//
// TELEMETRY_FAULTS: how many times (default 5).

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "telemetry/v1/dataset.grpc.pb.h"
#include "telemetry/v1/ingest.grpc.pb.h"
#include "tests/faults/fault_test.h"

namespace telemetry::faults {
namespace {

std::shared_ptr<grpc::Channel> ChannelThatTakesLittle(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Clients that ask and never read: one for the whole dataset, one with an open ingest stream.
class ClientsThatNeverRead {
 public:
  explicit ClientsThatNeverRead(const std::string& address)
      : channel_(ChannelThatTakesLittle(address)),
        dataset_(v1::DatasetService::NewStub(channel_)),
        ingest_(v1::IngestService::NewStub(channel_)),
        items_(dataset_->Export(&export_context_, {})),
        stream_(ingest_->Stream(&stream_context_)) {
    v1::StreamRequest open;
    open.mutable_open()->set_producer_id(std::string(16, 'n'));
    open.mutable_open()->set_epoch(1);
    stream_->Write(open);
  }
  ~ClientsThatNeverRead() {
    export_context_.TryCancel();
    stream_context_.TryCancel();
    items_->Finish();
    stream_->Finish();
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::DatasetService::Stub> dataset_;
  const std::unique_ptr<v1::IngestService::Stub> ingest_;
  grpc::ClientContext export_context_;
  grpc::ClientContext stream_context_;
  const std::unique_ptr<grpc::ClientReader<v1::ExportItem>> items_;
  const std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
};

// One export after the other.
class BusyReader {
 public:
  explicit BusyReader(const std::string& address) : thread_([this, address] { Run(address); }) {}
  ~BusyReader() {
    stopping_ = true;
    thread_.join();
  }

 private:
  void Run(const std::string& address) const {
    const auto stub = v1::DatasetService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    while (!stopping_) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
      v1::ExportItem item;
      const auto items = stub->Export(&context, {});
      while (items->Read(&item) && !stopping_) continue;
      if (stopping_) context.TryCancel();
      items->Finish();
    }
  }

  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class TermTest : public FaultTest {
 protected:
  void StopInTime() {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(collector_->Stop(), 0) << LogText();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    ExpectAckedIsStored();
  }
};

TEST_F(TermTest, UnderLoad) {
  StartCollector();
  StartProducers();
  const BusyReader reader(address_);
  for (int time = 0; time < Faults(5) && !HasFailure(); ++time) {
    WaitForARandomMoment();
    StopInTime();
    StartCollector();
  }
  AwaitProgress();
  ExpectEverythingStoredOnce();
}

TEST_F(TermTest, WithClientsThatNeverRead) {
  StartCollector();
  StartProducers();
  AwaitProgress();
  for (int time = 0; time < Faults(5) / 5 && !HasFailure(); ++time) {
    const ClientsThatNeverRead stuck(address_);
    AwaitProgress();
    StopInTime();
    StartCollector();
  }
  ExpectEverythingStoredOnce();
}

// Signals come while a commit waits for the disk: nothing of it is acknowledged, and the program does not wait for it.
TEST_F(TermTest, WithADiskThatDoesNotAnswer) {
  const std::string stall = File("stall");
  StartCollector({}, {"TELEMETRY_STALL=" + stall, "LD_PRELOAD=" + bench::ProgramPath("libstalling-disk.so")});
  StartProducers();
  AwaitProgress();
  std::ofstream(stall).flush();
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (!std::filesystem::exists(stall + ".waiting")) {
    ASSERT_LT(absl::Now(), deadline) << "nobody waits for the disk";
    absl::SleepFor(absl::Milliseconds(5));
  }
  StopInTime();
  std::filesystem::remove(stall);
  StartCollector();
  AwaitProgress();
  ExpectEverythingStoredOnce();
}

}  // namespace
}  // namespace telemetry::faults
