#include "tests/bench/bench_ingest/workload.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/record/ids.h"
#include "proto/record/python_literal.h"

namespace telemetry::bench {
namespace {

constexpr size_t kConfigsPerRun = 1000;

// Returns a pseudorandom number that depends only on `value` (splitmix64).
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// Returns config `index`. All configs are distinct.
v1::Config MakeConfig(uint64_t index) {
  constexpr const char* kIndexing[] = {"pointer", "tensor_descriptor", "block_ptr"};
  constexpr const char* kEviction[] = {"", "first", "last"};
  constexpr const char* kPidType[] = {"flat", "persistent_blocked", "persistent_interleaved"};
  // The parameters are the digits of a number in a mixed radix. The step is coprime to the number of points, so it
  // visits every point once, and consecutive points are far apart.
  constexpr uint64_t kPoints = uint64_t{10} * 10 * 3 * 3 * 6 * 3 * 3 * 8 * 6 * 3 * 4;
  constexpr uint64_t kStep = 1000003;
  uint64_t rest = index * kStep % kPoints;
  const auto digit = [&rest](uint64_t radix) {
    const uint64_t value = rest % radix;
    rest /= radix;
    return value;
  };
  const int block_m = 1 << digit(10);
  const int block_n = 1 << digit(10);
  const char* indexing_a = kIndexing[digit(3)];
  const char* indexing_b = kIndexing[digit(3)];
  const int l2_grouping = 1 << digit(6);
  const char* eviction_a = kEviction[digit(3)];
  const char* eviction_b = kEviction[digit(3)];
  const uint64_t num_stages = 1 + digit(8);
  const int num_warps = 1 << digit(6);
  const char* pid_type = kPidType[digit(3)];
  const uint64_t unroll = digit(4);
  v1::Config config;
  config.set_text(absl::StrFormat(
      "Config(atomic_indexing=[], block_sizes=[%d, %d], flatten_loops=[False], indexing=['%s', '%s', 'pointer'], "
      "l2_groupings=[%d], load_eviction_policies=['%s', '%s'], loop_orders=[[0, 1]], num_stages=%d, num_warps=%d, "
      "pid_type='%s', range_flattens=[None], range_multi_buffers=[None], range_num_stages=[], "
      "range_unroll_factors=[%d], range_warp_specializes=[])",
      block_m, block_n, indexing_a, indexing_b, l2_grouping, eviction_a, eviction_b, num_stages, num_warps, pid_type,
      unroll));
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
  configs_.resize(kRuns);
  uint64_t index = 0;
  for (std::vector<v1::Config>& space : configs_) {
    for (size_t i = 0; i < kConfigsPerRun; ++i) space.push_back(MakeConfig(index++));
  }
}

v1::Run Workload::BuildRun(int number) {
  v1::Run run;
  run.set_run_id(record::Sha256Hex(absl::StrCat("run ", number)));
  run.set_kernel_name("softmax");
  run.set_kernel_source("def softmax(x):\n    return x\n");
  run.set_input_shapes(absl::StrCat("[(4096, ", 256 + number, ")]"));
  run.set_dtypes("['torch.float16']");
  run.set_hardware("NVIDIA H200");
  return run;
}

v1::Attempt Workload::BuildAttempt(int run, uint64_t attempt) {
  v1::Attempt record;
  record.set_attempt_id(record::Sha256(absl::StrCat("attempt ", run, " ", attempt)).substr(0, 16));
  record.set_run_id(BuildRun(run).run_id());
  record.set_origin("bench");
  return record;
}

size_t Workload::ConfigIndex(int run, uint64_t attempt, uint64_t index) {
  return Mix((static_cast<uint64_t>(run) << 48) ^ (attempt << 16) ^ (index / 2)) % kConfigsPerRun;
}

void Workload::FillRow(int run, uint64_t attempt, uint64_t index, v1::Measurement* row) const {
  const bool started = index % 2 == 0;
  const size_t config = ConfigIndex(run, attempt, index);
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
  row->set_config_id(configs(run)[config].config_id());
}

size_t Workload::MakeAttempt(int run, uint64_t attempt, uint64_t rows, std::vector<bool>* named,
                             std::vector<v1::Record>* records) const {
  size_t used = 0;
  const auto next = [&] {
    if (used == records->size()) records->emplace_back();
    return &(*records)[used++];
  };
  if (named->empty()) *next()->mutable_run() = BuildRun(run);
  const v1::Attempt head = BuildAttempt(run, attempt);
  *next()->mutable_attempt() = head;
  named->resize(kConfigsPerRun);
  for (uint64_t index = 0; index < std::min(rows, kRowsPerAttempt); ++index) {
    const size_t config = ConfigIndex(run, attempt, index);
    if (!(*named)[config]) {
      *next()->mutable_config() = configs(run)[config];
      (*named)[config] = true;
    }
    v1::Measurement* row = next()->mutable_measurement();
    row->set_attempt_id(head.attempt_id());
    FillRow(run, attempt, index, row);
  }
  return used;
}

}  // namespace telemetry::bench
