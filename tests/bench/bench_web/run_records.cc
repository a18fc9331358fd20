#include "tests/bench/bench_web/run_records.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "proto/record/ids.h"

namespace telemetry::bench {
namespace {

constexpr const char* kDevices[] = {"NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA B200",
                                    "AMD Instinct MI300X"};
constexpr uint64_t kDevicesCount = std::size(kDevices);
constexpr uint64_t kShapes = 20;
constexpr const char* kAlgorithms[] = {"PatternSearch", "DifferentialEvolution", "random"};
constexpr uint64_t kMostFinals = 5;
constexpr int kSamples = 100;
constexpr uint64_t kRowsPerGeneration = 100;

// The share of a run in the rows.
uint64_t Weight(uint64_t run) { return run == 0 ? 500 : run % 100 == 50 ? 12 : 1; }

// Returns the sum of the weights of the runs below `run`.
uint64_t WeightBelow(uint64_t run) {
  const uint64_t medium = run < 51 ? 0 : (run - 51) / 100 + 1;
  return run == 0 ? 0 : run + (Weight(0) - 1) + medium * (Weight(50) - 1);
}

}  // namespace

uint64_t DatasetSize::RowsOf(uint64_t run) const {
  const uint64_t all = WeightBelow(runs);
  return rows * WeightBelow(run + 1) / all - rows * WeightBelow(run) / all;
}

uint64_t RunRecords::version() const { return run_ / (size_.kernels * kDevicesCount * kShapes); }

double RunRecords::LeastMs() const {
  const uint64_t place = run_ % (size_.kernels * kDevicesCount * kShapes);
  const double usual = 0.01 + 2 * Share(place);
  // One of ten kernels became slower with its second version.
  const bool is_slower = KernelOf(size_, run_) % 10 == 3 && version() > 0;
  return is_slower ? usual * 1.2 : usual;
}

std::vector<v1::Record> RunRecords::Build() {
  AddRun();
  if (run_ % 10 == 0) AddGraph();
  const uint64_t rows = size_.RowsOf(run_);
  const uint64_t attempts = run_ == 0 ? 1 : 1 + run_ % 3;
  for (uint64_t i = 0; i < attempts; ++i) AddAttempt(i, rows * (i + 1) / attempts - rows * i / attempts);
  return std::move(records_);
}

void RunRecords::AddRun() {
  v1::Run* run = records_.emplace_back().mutable_run();
  run_id_ = record::Sha256Hex(absl::StrCat("bench-web run ", run_));
  const uint64_t kernel = KernelOf(size_, run_);
  const uint64_t place = run_ / size_.kernels;
  run->set_run_id(run_id_);
  run->set_kernel_name(absl::StrCat("kernel_", kernel));
  std::string source = absl::StrCat("def kernel_", kernel, "(x, y):\n    # version ", version(), "\n");
  for (int line = 0; line < 60; ++line) absl::StrAppend(&source, "    x = x * y + ", line, "\n");
  run->set_kernel_source(source);
  run->set_input_shapes(absl::StrFormat("[(%d, 4096), (4096, 2560)]", 128 * (1 + place / kDevicesCount % kShapes)));
  run->set_dtypes("['torch.float16', 'torch.float16']");
  run->set_hardware(kDevices[place % kDevicesCount]);
  run->set_settings_json(R"({"static_shapes": true})");
}

// Adds a graph of 60 nodes, or 600 for one of ten.
void RunRecords::AddGraph() {
  v1::IrGraph* graph = records_.emplace_back().mutable_ir_graph();
  graph->set_run_id(run_id_);
  graph->set_kind("device");
  graph->set_attributes_json("{}");
  const int nodes = run_ % 100 == 0 ? 600 : 60;
  for (int i = 0; i < nodes; ++i) {
    v1::IrNode* node = graph->add_nodes();
    node->set_id(absl::StrCat("op", i));
    node->set_graph_id(i / 30);
    node->set_region_kind("loop");
    node->set_op_kind("call_function");
    node->set_target("aten.mul.Tensor");
    node->set_dtype("torch.float16");
    node->set_shape_json("[\"u0\", \"u1\"]");
    node->set_source_loc(absl::StrCat("kernel.py:", i));
    for (const int before : {i - 1, i / 2}) {
      if (before < 0 || before == i) continue;
      v1::IrEdge* edge = graph->add_edges();
      edge->set_source(absl::StrCat("op", before));
      edge->set_target(node->id());
    }
  }
}

void RunRecords::AddAttempt(uint64_t attempt, uint64_t rows) {
  seed_ = Mix(run_ * 8 + attempt);
  attempt_id_ = record::Sha256(absl::StrCat("bench-web attempt ", run_, " ", attempt)).substr(0, 16);
  v1::Attempt* record = records_.emplace_back().mutable_attempt();
  record->set_attempt_id(attempt_id_);
  record->set_run_id(run_id_);
  record->set_origin(absl::StrCat("ci/", run_ / 100));
  const bool is_open = run_ + 10 >= size_.runs && attempt == 0;
  record->set_state(is_open ? v1::Attempt::STATE_OPEN : v1::Attempt::STATE_COMPLETE);
  record->set_started_unix_us(started_unix_us_);
  record->set_search_algorithm(kAlgorithms[run_ % std::size(kAlgorithms)]);
  record->set_seed(static_cast<int64_t>(attempt));
  record->set_environment_json(R"({"device": "GPU 0", "driver": "580.65", "torch": "2.9.0", "host": "runner-1"})");
  record->set_counters_json(absl::StrCat(R"({"rows": )", rows, "}"));
  if (run_ % 20 == 0) AddEvents(attempt);
  const uint64_t finals = std::min(kMostFinals, rows / 20);
  const uint64_t results = (rows - finals) / 2;
  const PlannedConfig* best = &UseConfig(0);
  for (uint64_t i = 0; i < results; ++i) {
    const bool is_first = i == 0;
    const uint64_t index = run_ == 0 ? i : Mix(seed_ ^ (i << 20)) % configs_.size();
    const PlannedConfig& config = UseConfig(is_first ? 0 : index);
    AddResult(config, 2 * i + 1);
    if (config.factor < best->factor) best = &config;
  }
  uint64_t row = 2 * results + 1;
  if (row + finals <= rows) AddRow(row++, "started", UseConfig(1));
  for (uint64_t i = 0; i < finals; ++i) AddFinal(i == 0 ? *best : UseConfig(Mix(seed_ ^ i) % configs_.size()), row++);
}

void RunRecords::AddEvents(uint64_t attempt) {
  for (uint64_t i = 1; i <= 100; ++i) {
    v1::AttemptEvent* event = records_.emplace_back().mutable_attempt_event();
    event->set_attempt_id(attempt_id_);
    event->set_seq(i);
    event->set_time_unix_us(started_unix_us_ + static_cast<int64_t>(i) * 1'000'000);
    event->set_name("trial");
    event->set_text(absl::StrCat(R"({"event": "trial", "number": )", i, R"(, "attempt": )", attempt, "}"));
  }
}

const PlannedConfig& RunRecords::UseConfig(uint64_t index) {
  const PlannedConfig& config = configs_[index];
  if (!known_[index]) *records_.emplace_back().mutable_config() = config.record;
  known_[index] = true;
  return config;
}

v1::Measurement* RunRecords::AddRow(uint64_t row, const char* status, const PlannedConfig& config) {
  v1::Measurement* record = records_.emplace_back().mutable_measurement();
  record->set_attempt_id(attempt_id_);
  record->set_seq(row);
  record->set_timestamp_s(0.2 * static_cast<double>(row));
  record->set_generation(static_cast<int64_t>(row / kRowsPerGeneration));
  record->set_status(status);
  record->set_config_id(config.record.config_id());
  return record;
}

v1::MeasurementDetail* RunRecords::AddDetail(uint64_t row, v1::MeasurementDetail::Stage stage) {
  v1::MeasurementDetail* detail = records_.emplace_back().mutable_measurement_detail();
  detail->set_attempt_id(attempt_id_);
  detail->set_seq(row);
  detail->set_stage(stage);
  detail->set_registers(32 + 8 * (Mix(seed_ ^ row) % 28));
  detail->set_shared_bytes(1024 * (Mix(seed_ ^ row) % 200));
  detail->set_occupancy(0.25);
  return detail;
}

void RunRecords::AddResult(const PlannedConfig& config, uint64_t row) {
  AddRow(row, "started", config);
  const uint64_t chance = Mix(seed_ ^ (row << 8)) % 100;
  if (row > 1 && chance < 10) {
    v1::Measurement* failed = AddRow(row + 1, chance == 0 ? "timeout" : "error", config);
    if (chance > 0) AddFailure(failed, chance % 5);
    return;
  }
  v1::Measurement* done = AddRow(row + 1, "ok", config);
  const double noise = 0.99 + 0.02 * Share(seed_ ^ (row << 16));
  done->set_perf_ms(std::round(1e6 * LeastMs() * config.factor * noise) / 1e6);
  done->set_compile_time_s(0.5 + Share(seed_ ^ row));
  if (run_ % 2 == 0) AddDetail(row + 1, v1::MeasurementDetail::STAGE_SEARCH);
}

void RunRecords::AddFailure(v1::Measurement* row, uint64_t kind) {
  const uint64_t number = Mix(seed_ ^ row->seq()) % 100'000;
  v1::Failure* failure = row->mutable_failure();
  failure->set_phase(kind < 3 ? "compile" : "run");
  failure->set_error_class("RuntimeError");
  constexpr const char* kMessages[] = {
      "out of resource: shared memory, required: %d, hardware limit: 232448. Reducing block sizes may help",
      "PassManager::run failed at line %d\nerror: operation scheduled before its operands",
      "out of registers: %d needed", "CUDA error: an illegal memory access was encountered at 0x%08x",
      "wrong result: the largest difference is %d ulp"};
  failure->set_message(
      absl::StrReplaceAll(kMessages[kind], {{"%d", absl::StrCat(number)}, {"%08x", absl::StrCat(number)}}));
}

void RunRecords::AddFinal(const PlannedConfig& config, uint64_t row) {
  v1::Measurement* done = AddRow(row, "ok", config);
  const double ms = LeastMs() * config.factor;
  done->set_perf_ms(std::round(1e6 * ms) / 1e6);
  v1::MeasurementDetail* detail = AddDetail(row, v1::MeasurementDetail::STAGE_FINAL);
  for (int i = 0; i < kSamples; ++i) {
    detail->add_samples_ms(std::round(1e5 * ms * (0.99 + 0.02 * Share(seed_ ^ (row << 20) ^ i))) / 1e5);
  }
}

}  // namespace telemetry::bench
