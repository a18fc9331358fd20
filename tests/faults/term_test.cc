// Tests SIGTERM under load: the collector exits with status 0 within 10 s, and acknowledged records are stored.
//
// TELEMETRY_FAULTS is the number of repetitions (default 5); tests with clients that never read make a fifth as many,
// at least one.

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
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

// Two clients that never read: one exports the complete dataset, one has an open ingest stream.
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

// A reader that exports repeatedly. An export that the collector completes contains every row that it announced, in
// order and exactly once. Any other export ends with UNAVAILABLE, or with CANCELLED if gRPC ends a call that arrives
// during the shutdown.
class BusyReader {
 public:
  explicit BusyReader(const std::string& address)
      : stub_(v1::DatasetService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        thread_([this] { Run(); }) {}
  // Cancels the running export.
  ~BusyReader() {
    {
      const absl::MutexLock lock(&mutex_);
      stopping_ = true;
      if (running_ != nullptr) running_->TryCancel();
    }
    thread_.join();
  }

  // Blocks until one more export is complete. Returns false if none is within two minutes.
  bool AwaitExport() const {
    const int before = complete_;
    const absl::Time deadline = absl::Now() + absl::Minutes(2);
    while (complete_ == before && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(5));
    return complete_ != before;
  }
  void ReportTo(std::ostream& out) const {
    out << complete_ << " exports were complete, " << cut_off_ << " cut off" << std::endl;
  }

 private:
  // Sets the context that the destructor cancels. Returns false if the reader is stopping.
  bool SetRunning(grpc::ClientContext* context) {
    const absl::MutexLock lock(&mutex_);
    running_ = context;
    return !stopping_;
  }

  void Run() {
    while (true) {
      grpc::ClientContext context;
      if (!SetRunning(&context)) return;
      context.set_wait_for_ready(true);
      context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(2)));
      const auto items = stub_->Export(&context, {});
      uint64_t announced = 0;
      uint64_t rows = 0;
      uint64_t seq = 0;
      for (v1::ExportItem item; items->Read(&item);) {
        if (item.has_totals()) announced = item.totals().measurements();
        if (item.has_attempt()) seq = 0;
        rows += static_cast<uint64_t>(item.rows().measurements_size());
        for (const v1::Measurement& row : item.rows().measurements()) EXPECT_EQ(row.seq(), ++seq);
      }
      const grpc::Status status = items->Finish();
      if (!SetRunning(nullptr)) return;
      if (status.ok()) {
        EXPECT_GE(rows, announced);
        ++complete_;
      } else {
        EXPECT_TRUE(status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                    status.error_code() == grpc::StatusCode::CANCELLED)
            << status.error_code() << " " << status.error_message();
        ++cut_off_;
      }
    }
  }

  const std::unique_ptr<v1::DatasetService::Stub> stub_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* running_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::atomic<int> complete_ = 0;
  std::atomic<int> cut_off_ = 0;
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
  {
    const BusyReader reader(address_);
    for (int time = 0; time < Faults(5) && !HasFailure(); ++time) {
      WaitForARandomMoment();
      StopInTime();
      StartCollector();
    }
    AwaitProgress();
    EXPECT_TRUE(reader.AwaitExport());
    reader.ReportTo(std::cout);
  }
  ExpectEverythingStoredOnce();
}

TEST_F(TermTest, WithClientsThatNeverRead) {
  StartCollector();
  StartProducers();
  AwaitProgress();
  const int rounds = std::max(1, Faults(5) / 5);
  for (int time = 0; time < rounds && !HasFailure(); ++time) {
    const ClientsThatNeverRead stuck(address_);
    AwaitProgress();
    StopInTime();
    StartCollector();
  }
  ExpectEverythingStoredOnce();
}

// The signal arrives while a commit waits for the disk: no record of the commit is acknowledged, and the program exits
// without waiting for the commit.
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
