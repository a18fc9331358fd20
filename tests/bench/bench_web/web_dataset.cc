#include "tests/bench/bench_web/web_dataset.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/any/any_store.h"
#include "server/storage/store.h"

namespace telemetry::bench {
namespace {

constexpr uint64_t kProducers = 200;
constexpr size_t kConfigsPerKernel = 4000;
constexpr uint64_t kRecordsPerCommit = 40'000;
constexpr int kRejects = 2000;
constexpr int kCacheEntries = 2000;
constexpr absl::Duration kPeriod = absl::Hours(45 * 24);
constexpr const char* kSenders[] = {"", "ci", "lab", "nightly"};

// Writes the runs of the dataset in the order of time.
class Writer {
 public:
  Writer(const std::string& db, const DatasetSize& size) : db_(db), size_(size), now_(absl::Now() - kPeriod) {}

  absl::Status Write() {
    ASSIGN_OR_RETURN(writer_, storage::any::OpenWriter(db_, {.clock = [this] { return now_; }}));
    RETURN_IF_ERROR(OpenProducers());
    RETURN_IF_ERROR(WriteRuns());
    RETURN_IF_ERROR(WriteRejects());
    RETURN_IF_ERROR(WriteCache());
    return writer_->Idle();
  }

 private:
  struct Producer {
    std::string id;
    uint64_t next_seq = 1;
  };

  absl::Status OpenProducers() {
    std::vector<storage::ProducerOpening> openings;
    for (uint64_t i = 0; i < kProducers; ++i) {
      producers_.push_back({.id = record::Sha256(absl::StrCat("producer ", i)).substr(0, 16)});
      openings.push_back({.producer_id = producers_.back().id,
                          .epoch = 1,
                          .client = "telemetry-worker 1.0",
                          .sender = kSenders[i % std::size(kSenders)]});
    }
    ASSIGN_OR_RETURN(const std::vector<storage::OpenOutcome> outcomes, writer_->OpenProducers(openings));
    for (const storage::OpenOutcome& outcome : outcomes) {
      RETURN_IF_ERROR(outcome.status);
      if (outcome.committed_seq != 0) return absl::AlreadyExistsError(db_ + " contains this dataset already");
    }
    return absl::OkStatus();
  }

  absl::Status WriteRuns() {
    for (uint64_t kernel = 0; kernel < size_.kernels; ++kernel) {
      // Run 0 measures each of its configs once.
      const size_t count = kernel == 0 ? std::max<uint64_t>(kConfigsPerKernel, size_.RowsOf(0) / 2) : kConfigsPerKernel;
      configs_.push_back(MakeConfigs(kernel, count));
      known_.emplace_back(count, false);
    }
    const absl::Time begin = now_;
    for (uint64_t run = 0; run < size_.runs; ++run) {
      now_ = begin + kPeriod * (static_cast<double>(run) / static_cast<double>(size_.runs));
      const uint64_t kernel = KernelOf(size_, run);
      RunRecords records(size_, run, absl::ToUnixMicros(now_ - absl::Minutes(5)), configs_[kernel], &known_[kernel]);
      // All runs of a kernel belong to producers of one sender, so that a config is sent once.
      const uint64_t producer = (run / size_.kernels * std::size(kSenders) + kernel % std::size(kSenders)) % kProducers;
      RETURN_IF_ERROR(Commit(records.Build(), &producers_[producer]));
      if (run % 1000 == 999) std::fprintf(stderr, "%llu runs\n", static_cast<unsigned long long>(run + 1));
    }
    return absl::OkStatus();
  }

  absl::Status WriteRejects() {
    std::vector<v1::Record> records(kRejects);
    for (int i = 0; i < kRejects; ++i) {
      v1::Reject* reject = records[static_cast<size_t>(i)].mutable_reject();
      reject->set_reason(i % 3 == 0 ? v1::Reject::REASON_UNREADABLE : v1::Reject::REASON_INVALID);
      reject->set_message("perf_ms is not a number");
      reject->set_source(absl::StrCat("job-", i, ".csv"));
      reject->set_line(static_cast<uint64_t>(i));
      reject->set_raw(std::string(300, 'x'));
      reject->set_origin("ci/1");
    }
    return Commit(records, &producers_[1]);
  }

  absl::Status WriteCache() {
    std::vector<storage::CachePut> puts(kCacheEntries);
    for (int i = 0; i < kCacheEntries; ++i) {
      storage::CachePut& put = puts[static_cast<size_t>(i)];
      put.sender = "ci";
      put.entry.set_namespace_("helion/1");
      put.entry.set_key(record::Sha256Hex(absl::StrCat("entry ", i)));
      put.entry.set_hardware("NVIDIA H200");
      put.entry.set_value(std::string(2000, 'v'));
    }
    ASSIGN_OR_RETURN(const std::vector<storage::CachePutOutcome> outcomes, writer_->PutCacheEntries(puts, {}));
    for (const storage::CachePutOutcome& outcome : outcomes) RETURN_IF_ERROR(outcome.status);
    return absl::OkStatus();
  }

  // Stores the records in transactions of a limited size.
  absl::Status Commit(const std::vector<v1::Record>& records, Producer* producer) {
    for (size_t at = 0; at < records.size(); at += kRecordsPerCommit) {
      std::vector<storage::ProducerBatch> batches(1);
      storage::ProducerBatch& batch = batches.front();
      batch.producer_id = producer->id;
      batch.epoch = 1;
      batch.first_seq = producer->next_seq;
      const size_t end = std::min(records.size(), at + kRecordsPerCommit);
      for (size_t i = at; i < end; ++i) batch.records.push_back({&records[i]});
      ASSIGN_OR_RETURN(const std::vector<storage::BatchOutcome> outcomes, writer_->CommitBatches(batches));
      RETURN_IF_ERROR(outcomes.front().status);
      if (!outcomes.front().refused.empty()) {
        return absl::InternalError("a record was refused: " + outcomes.front().refused.front().message);
      }
      producer->next_seq += batch.records.size();
    }
    return absl::OkStatus();
  }

  const std::string& db_;
  const DatasetSize& size_;
  absl::Time now_;
  std::unique_ptr<storage::StoreWriter> writer_;
  std::vector<Producer> producers_;
  std::vector<std::vector<PlannedConfig>> configs_;  // by kernel
  std::vector<std::vector<bool>> known_;             // of configs_
};

}  // namespace

absl::Status CreateWebDataset(const std::string& db, const DatasetSize& size) { return Writer(db, size).Write(); }

}  // namespace telemetry::bench
