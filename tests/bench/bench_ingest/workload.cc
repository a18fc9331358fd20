#include "tests/bench/bench_ingest/workload.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/record/ids.h"
#include "proto/record/python_literal.h"

namespace telemetry::bench {
namespace {

constexpr size_t kConfigs = 1000;

// A number that looks random and is the same each time (splitmix64).
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

v1::Config MakeConfig(size_t index) {
  constexpr const char* kIndexing[] = {"pointer", "tensor_descriptor", "block_ptr"};
  constexpr const char* kEviction[] = {"", "first", "last"};
  constexpr const char* kPidType[] = {"flat", "persistent_blocked", "persistent_interleaved"};
  const uint64_t random = Mix(index);
  const auto pick = [&](int place, uint64_t count) { return (random >> (4 * place)) % count; };
  v1::Config config;
  config.set_text(absl::StrFormat(
      "Config(atomic_indexing=[], block_sizes=[%d, %d], flatten_loops=[False], indexing=['%s', '%s', 'pointer'], "
      "l2_groupings=[%d], load_eviction_policies=['%s', '%s'], loop_orders=[[0, 1]], num_stages=%d, num_warps=%d, "
      "pid_type='%s', range_flattens=[None], range_multi_buffers=[None], range_num_stages=[], "
      "range_unroll_factors=[%d], range_warp_specializes=[])",
      // The first pair makes every config another one.
      index + 1, 16 << pick(0, 5), kIndexing[pick(1, 3)], kIndexing[pick(2, 3)], 1 << pick(3, 6), kEviction[pick(4, 3)],
      kEviction[pick(5, 3)], 1 + pick(6, 8), 1 << pick(7, 6), kPidType[pick(8, 3)], pick(9, 4)));
  const absl::StatusOr<record::Json> parsed = record::ParseConfig(config.text());
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n", parsed.status().ToString().c_str());
    std::abort();
  }
  config.set_config_id(record::ConfigId(*parsed));
  return config;
}

}  // namespace

Workload::Workload() {
  for (size_t i = 0; i < kConfigs; ++i) configs_.push_back(MakeConfig(i));
}

v1::Run Workload::RunOf(int producer) const {
  v1::Run run;
  run.set_run_id(record::Sha256Hex(absl::StrCat("run ", producer)));
  run.set_kernel_name("softmax");
  run.set_kernel_source("def softmax(x):\n    return x\n");
  run.set_input_shapes(absl::StrCat("[(4096, ", 256 + producer, ")]"));
  run.set_dtypes("['torch.float16']");
  run.set_hardware("NVIDIA H200");
  return run;
}

v1::Attempt Workload::AttemptOf(int producer, uint64_t attempt) const {
  v1::Attempt record;
  record.set_attempt_id(record::Sha256(absl::StrCat("attempt ", producer, " ", attempt)).substr(0, 16));
  record.set_run_id(RunOf(producer).run_id());
  record.set_origin("bench");
  return record;
}

size_t Workload::ConfigOf(int producer, uint64_t attempt, uint64_t index) const {
  return Mix((static_cast<uint64_t>(producer) << 48) ^ (attempt << 16) ^ (index / 2)) % configs_.size();
}

void Workload::FillRow(int producer, uint64_t attempt, uint64_t index, v1::Measurement* row) const {
  const bool started = index % 2 == 0;
  const size_t config = ConfigOf(producer, attempt, index);
  row->set_seq(index + 1);
  row->set_timestamp_s(static_cast<double>(index * 7) / 100);
  row->set_generation(static_cast<int64_t>(index / 50));
  row->set_status(started ? "started" : "ok");
  if (started) {
    row->clear_perf_ms();
  } else {
    row->set_perf_ms(static_cast<double>(10000 + Mix(config) % 100000) / 1e6);
  }
  row->set_compile_time_s(static_cast<double>(config % 400) / 100);
  row->set_config_id(configs_[config].config_id());
}

size_t Workload::MakeAttempt(int producer, uint64_t attempt, uint64_t rows, std::vector<bool>* named,
                             std::vector<v1::Record>* records) const {
  size_t used = 0;
  const auto next = [&] {
    if (used == records->size()) records->emplace_back();
    return &(*records)[used++];
  };
  if (attempt == 0) *next()->mutable_run() = RunOf(producer);
  const v1::Attempt head = AttemptOf(producer, attempt);
  *next()->mutable_attempt() = head;
  named->resize(configs_.size());
  for (uint64_t index = 0; index < std::min(rows, kRowsPerAttempt); ++index) {
    const size_t config = ConfigOf(producer, attempt, index);
    if (!(*named)[config]) {
      *next()->mutable_config() = configs_[config];
      (*named)[config] = true;
    }
    v1::Measurement* row = next()->mutable_measurement();
    row->set_attempt_id(head.attempt_id());
    FillRow(producer, attempt, index, row);
  }
  return used;
}

}  // namespace telemetry::bench
