#include "tests/bench/bench_export/dataset_builder.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "server/storage/any/any_store.h"
#include "server/storage/store.h"

namespace telemetry::bench {
namespace {

constexpr char kProducerId[] = "bench-export----";  // 16 bytes
constexpr uint64_t kRowsPerCommit = 20 * kRowsPerRun;
constexpr char kRecordKeys[] =
    R"(["block_sizes", "loop_orders", "l2_groupings", "range_unroll_factors", "range_warp_specializes", )"
    R"("range_num_stages", "range_multi_buffers", "range_flattens", "load_eviction_policies", "num_warps", )"
    R"("num_stages", "indexing", "atomic_indexing", "pid_type"])";

using Random = std::mt19937_64;

template <size_t kCount>
std::string Pick(const std::array<const char*, kCount>& choices, Random* random) {
  return choices[(*random)() % kCount];
}

// Returns a random point of the search space of a matrix multiplication, in the tuner's notation.
std::string RandomConfigText(Random* random) {
  constexpr std::array<const char*, 6> kBlocks = {"16", "32", "64", "128", "256", "512"};
  constexpr std::array<const char*, 3> kIndexing = {"'pointer'", "'block_ptr'", "'tensor_descriptor'"};
  constexpr std::array<const char*, 3> kEviction = {"''", "'first'", "'last'"};
  constexpr std::array<const char*, 3> kFlags = {"None", "True", "False"};
  constexpr std::array<const char*, 2> kOrders = {"[[0, 1]]", "[[1, 0]]"};
  constexpr std::array<const char*, 3> kPids = {"'flat'", "'persistent_blocked'", "'persistent_interleaved'"};
  constexpr std::array<const char*, 5> kSmall = {"0", "1", "2", "3", "4"};
  constexpr std::array<const char*, 5> kPowers = {"1", "2", "4", "8", "16"};
  constexpr std::array<const char*, 5> kStages = {"1", "2", "3", "4", "5"};
  return absl::StrCat(
      "Config(atomic_indexing=[], block_sizes=[", Pick(kBlocks, random), ", ", Pick(kBlocks, random), ", ",
      Pick(kBlocks, random), "], indexing=[", Pick(kIndexing, random), ", ", Pick(kIndexing, random), ", ",
      Pick(kIndexing, random), "], l2_groupings=[", Pick(kPowers, random), "], load_eviction_policies=[",
      Pick(kEviction, random), ", ", Pick(kEviction, random), "], loop_orders=", Pick(kOrders, random),
      ", num_stages=", Pick(kStages, random), ", num_warps=", Pick(kPowers, random), ", pid_type=", Pick(kPids, random),
      ", range_flattens=[", Pick(kFlags, random), ", ", Pick(kFlags, random), "], range_multi_buffers=[",
      Pick(kFlags, random), ", ", Pick(kFlags, random), "], range_num_stages=[", Pick(kSmall, random), ", ",
      Pick(kSmall, random), "], range_unroll_factors=[", Pick(kSmall, random), ", ", Pick(kSmall, random),
      "], range_warp_specializes=[", Pick(kFlags, random), "])");
}

// The records of a run and its one attempt, in the order of a producer's log.
class RunBuilder {
 public:
  explicit RunBuilder(uint64_t number) : number_(number), random_(number) {}

  std::vector<v1::Record> Build(uint64_t rows) {
    AddRun();
    AddAttempt();
    for (uint64_t seq = 1; seq <= rows; seq += 2) AddConfig(seq, rows);
    return std::move(records_);
  }

 private:
  void AddRun() {
    v1::Run* run = records_.emplace_back().mutable_run();
    run_id_ = record::Sha256Hex(absl::StrCat("bench-export run ", number_));
    run->set_run_id(run_id_);
    run->set_kernel_name(KernelOfRow(number_ * kRowsPerRun));
    run->set_kernel_source(absl::StrCat("def matmul(x, y):\n    # variant ", number_ % 50, "\n    return x @ y\n"));
    run->set_input_shapes(absl::StrFormat("[(%d, 4096), (4096, 2560)]", 16 * (number_ + 1)));
    run->set_dtypes("['torch.float16', 'torch.float16']");
    run->set_hardware("NVIDIA H200");
    run->set_settings_json(R"({"static_shapes": true})");
  }

  void AddAttempt() {
    v1::Attempt* attempt = records_.emplace_back().mutable_attempt();
    attempt_id_ = record::Sha256(absl::StrCat("bench-export attempt ", number_)).substr(0, 16);
    attempt->set_attempt_id(attempt_id_);
    attempt->set_run_id(run_id_);
    attempt->set_origin("bench");
    attempt->set_dialect("helion");
    attempt->set_state(v1::Attempt::STATE_COMPLETE);
  }

  // Adds a config with its two rows.
  void AddConfig(uint64_t seq, uint64_t rows) {
    v1::Config* config = records_.emplace_back().mutable_config();
    config->set_text(RandomConfigText(&random_));
    const uint64_t config_id = record::ConfigId(record::ParseConfig(config->text()).value());
    config->set_config_id(config_id);
    v1::RunConfig* run_config = records_.emplace_back().mutable_run_config();
    run_config->set_run_id(run_id_);
    run_config->set_config_id(config_id);
    run_config->set_record_keys_json(kRecordKeys);
    AddRow(seq, config_id, "started");
    if (seq >= rows) return;
    v1::Measurement* done = AddRow(seq + 1, config_id, "ok");
    done->set_perf_ms(std::round(1e6 * std::exponential_distribution<double>(20)(random_)) / 1e6);
  }

  v1::Measurement* AddRow(uint64_t seq, uint64_t config_id, const char* status) {
    v1::Measurement* row = records_.emplace_back().mutable_measurement();
    row->set_attempt_id(attempt_id_);
    row->set_seq(seq);
    row->set_timestamp_s(0.25 * static_cast<double>(seq));
    row->set_generation(static_cast<int64_t>(seq / 200));
    row->set_status(status);
    row->set_compile_time_s(0.01 * static_cast<double>(random_() % 100));
    row->set_config_id(config_id);
    return row;
  }

  const uint64_t number_;
  Random random_;  // seeded with the number, so that builds are comparable
  std::string run_id_;
  std::string attempt_id_;
  std::vector<v1::Record> records_;
};

// Returns the records of the runs with the rows from `first_row` to before `end_row`; none if the range is empty.
std::vector<v1::Record> BuildRuns(uint64_t first_row, uint64_t end_row) {
  std::vector<v1::Record> records;
  for (uint64_t row = first_row; row < end_row; row += kRowsPerRun) {
    std::vector<v1::Record> run = RunBuilder(row / kRowsPerRun).Build(std::min(kRowsPerRun, end_row - row));
    std::move(run.begin(), run.end(), std::back_inserter(records));
  }
  return records;
}

absl::Status Commit(const std::vector<v1::Record>& records, uint64_t first_seq, storage::StoreWriter* writer) {
  std::vector<storage::ProducerBatch> batches(1);
  batches[0].producer_id = kProducerId;
  batches[0].epoch = 1;
  batches[0].first_seq = first_seq;
  for (const v1::Record& record : records) batches[0].records.push_back({&record});
  absl::StatusOr<std::vector<storage::BatchOutcome>> outcomes = writer->CommitBatches(batches);
  if (!outcomes.ok()) return outcomes.status();
  const storage::BatchOutcome& outcome = outcomes->front();
  if (!outcome.refused.empty()) return absl::InternalError("a record was refused: " + outcome.refused.front().message);
  return outcome.status;
}

}  // namespace

std::string KernelOfRow(uint64_t row) { return absl::StrCat("matmul_", row / kRowsPerKernel); }

absl::Status BuildDataset(const std::string& db, uint64_t first_row, uint64_t end_row) {
  absl::StatusOr<std::unique_ptr<storage::StoreWriter>> writer = storage::any::OpenWriter(db);
  if (!writer.ok()) return writer.status();
  absl::StatusOr<uint64_t> committed = (*writer)->OpenProducer(kProducerId, 1, "bench-export");
  if (!committed.ok()) return committed.status();
  uint64_t next_seq = *committed + 1;
  const auto build_from = [&](uint64_t row) {
    return std::async(std::launch::async, BuildRuns, row, std::min(end_row, row + kRowsPerCommit));
  };
  // The next records are built while these are stored.
  std::future<std::vector<v1::Record>> next = build_from(first_row);
  for (uint64_t row = first_row; row < end_row; row += kRowsPerCommit) {
    const std::vector<v1::Record> records = next.get();
    next = build_from(row + kRowsPerCommit);
    if (absl::Status status = Commit(records, next_seq, writer->get()); !status.ok()) return status;
    next_seq += records.size();
  }
  return (*writer)->Idle();
}

}  // namespace telemetry::bench
