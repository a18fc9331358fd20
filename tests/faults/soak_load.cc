#include "tests/faults/soak_load.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/producer.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::faults {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);
// A producer that was delayed catches up with at most this much.
constexpr absl::Duration kMostBehind = absl::Seconds(1);

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

// The progress of one producer in its runs.
struct SoakLoad::Share {
  int number;
  int run;
  std::vector<std::vector<bool>> named{bench::Workload::kRuns};
  std::vector<uint64_t> attempts = std::vector<uint64_t>(bench::Workload::kRuns, 0);
  absl::Time next;
  uint64_t committed_seq = 0;  // used only by the delivery thread of the current client::Producer
};

SoakLoad::SoakLoad(Options options) : options_(std::move(options)) {
  for (int i = 0; i < options_.producers; ++i) threads_.emplace_back([this, i] { Produce(i); });
  threads_.emplace_back([this] { Read(); });
}

SoakLoad::~SoakLoad() {
  end_.Notify();
  for (std::thread& thread : threads_) thread.join();
}

void SoakLoad::Produce(int number) {
  Share share{.number = number, .run = number, .next = absl::Now()};
  while (!end_.HasBeenNotified()) ProduceOverOneConnection(share);
}

absl::Time SoakLoad::NextTime(absl::Time last, size_t count) const {
  const double pace = records_per_s_;
  if (pace == 0) return absl::Now();
  return std::max(last, absl::Now() - kMostBehind) +
         absl::Seconds(static_cast<double>(count) * options_.producers / pace);
}

void SoakLoad::ProduceOverOneConnection(Share& share) {
  auto producer = client::Producer::Open({
      .collector = options_.collector,
      .spool_dir = absl::StrCat(options_.folder, "-", share.number),
      .client_name = "soak",
      .on_refused = [this](const v1::Ack::Refused&) { ++refused_; },
      .on_committed =
          [this, &share](uint64_t seq) {
            committed_ += seq - share.committed_seq;
            share.committed_seq = seq;
          },
  });
  Require(producer.status());
  std::vector<v1::Record> records;
  for (int i = 0; i < options_.attempts_a_connection; ++i) {
    if (end_.WaitForNotificationWithDeadline(share.next)) break;
    const auto run = static_cast<size_t>(share.run);
    const size_t count = workload_.MakeAttempt(share.run, share.attempts[run]++, bench::Workload::kRowsPerAttempt,
                                               &share.named[run], &records);
    Require((*producer)->AppendBatch(absl::MakeConstSpan(records).first(count)));
    share.next = NextTime(share.next, count);
    share.run += options_.producers;
    if (share.run >= bench::Workload::kRuns) share.run = share.number;
  }
  Require((*producer)->Drain(kPatience));
}

void SoakLoad::Read() {
  const auto stub =
      v1::DatasetService::NewStub(grpc::CreateChannel(options_.collector, grpc::InsecureChannelCredentials()));
  v1::ListMeasurementsRequest request;
  request.set_attempt_id(bench::Workload::BuildAttempt(0, 0).attempt_id());
  while (!end_.WaitForNotificationWithTimeout(absl::Seconds(1))) {
    if (committed_ == 0) continue;
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
    v1::ListMeasurementsResponse response;
    ++(stub->ListMeasurements(&context, request, &response).ok() ? reads_ : failed_reads_);
  }
}

}  // namespace telemetry::faults
