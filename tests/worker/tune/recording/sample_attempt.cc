#include "tests/worker/tune/recording/sample_attempt.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_replace.h"
#include "proto/record/sidecar/ir_record.h"
#include "worker/tune/recording/attempt_counters.h"
#include "worker/tune/recording/run_description.h"
#include "worker/tune/recording/statuses.h"

namespace telemetry::worker::tune::recording {
namespace {

using record::Json;

constexpr char kGraph[] =
    R"({"schema_version": 1, "run_id": "RUN", "directed": true, "multigraph": false, "graph": {"run_id": "RUN", )"
    R"("kernel_id": "", "kernel_name": "", "input_shapes": "", "num_graphs": 1}, "nodes": [{"id": "0:a", "graph_id": 0, )"
    R"("region_kind": "root", "block_ids": [0], "op_kind": "load", "target": "load", "lowering_class": null, )"
    R"("dtype": "torch.float16", "shape": ["u0", 2560], "concrete_shape": [64, 2560], "stride": null, )"
    R"("concrete_stride": null, "device": "cuda:0", "value": null, "input_dtypes": [], "input_shapes": [], )"
    R"("reduction_type": null, "reduction_ranges": null, "pointwise_ranges": null, "source_loc": null}], "links": []})";

v1::IrGraph SampleGraph() {
  const std::string text = absl::StrReplaceAll(kGraph, {{"RUN", std::string(64, '0')}});
  return record::sidecar::ParseIrRecord(record::ParseJson(text).value()).value();
}

Json SampleSettings() {
  return record::ParseJson(R"({"backend": "cuda", "dot_precision": "tf32", "fast_math": false, "index_dtype": null, )"
                           R"("persistent_reserved_sms": 0, "static_shapes": true})")
      .value();
}

AttemptRow RowAt(double timestamp_s, int64_t generation, int warps, const char* status) {
  return {.timestamp_s = timestamp_s, .generation = generation, .config = SampleConfig(warps), .status = status};
}

AttemptRow OkRow(double timestamp_s, int64_t generation, int warps, double perf_ms) {
  AttemptRow row = RowAt(timestamp_s, generation, warps, status::kOk);
  row.perf_ms = perf_ms;
  row.compile_time_s = 0.123456;
  row.source_hash = std::string(62, 'a') + std::to_string(10 + warps);
  v1::MeasurementDetail& detail = row.detail.emplace();
  detail.set_stage(v1::MeasurementDetail::STAGE_SEARCH);
  detail.add_samples_ms(perf_ms);
  detail.set_registers(40);
  return row;
}

AttemptRow FailedRow(double timestamp_s, int64_t generation, int warps, const char* status, const char* phase) {
  AttemptRow row = RowAt(timestamp_s, generation, warps, status);
  row.failure.emplace().set_phase(phase);
  row.failure->set_message("it went wrong");
  return row;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

AttemptInfo SampleAttempt(char letter) {
  AttemptInfo info;
  info.attempt_id = std::string(16, letter);
  info.run = DescribeRun({.kernel_name = "softmax",
                          .kernel_source = "void softmax(Tensor x) { \"ü\" }\n",
                          .input_shapes = "[(4096, 2560)]",
                          .dtypes = "['torch.float16']",
                          .hardware = "NVIDIA H200",
                          .settings = SampleSettings()});
  info.ir_graph = SampleGraph();
  info.wrapper_graph = SampleGraph();
  info.wrapper_graph->mutable_nodes(0)->set_target("allocate");
  info.origin = "github:acme/kernels/17";
  info.search_algorithm = "PatternSearch";
  info.seed = 11;
  info.environment = record::ParseJson(R"({"host": "runner-1", "ci": null})").value();
  info.started = absl::FromUnixMicros(1'700'000'000'123'456);
  return info;
}

codegen::Config SampleConfig(int warps) {
  return codegen::Config::Parse("Config(indexing=['pointer'], num_warps=" + std::to_string(warps) + ")").value();
}

std::vector<AttemptRow> SampleRows() {
  return {
      RowAt(0.001, 0, 4, status::kStarted),
      OkRow(0.5049999, 0, 4, 0.0317761234),
      RowAt(0.51, 0, 8, status::kStarted),
      FailedRow(0.75, 0, 8, status::kError, "check"),
      FailedRow(0.751, 0, 16, status::kPeerCompilationFail, "compile"),
      RowAt(1.25, 1, 2, status::kStarted),
      OkRow(1.5, 1, 2, 0.0154),
      RowAt(1.5, 1, 1, status::kDeduplicated),
      RowAt(1.75, 1, 32, status::kStarted),
      FailedRow(31.75, 1, 32, status::kTimeout, "run"),
      RowAt(31.75, 2, 2, status::kStarted),
      OkRow(32, 2, 2, 0.0153999),
  };
}

void RecordWhole(const AttemptInfo& info, const std::vector<AttemptRow>& rows, AttemptSinks sinks) {
  const auto recorder = AttemptRecorder::Create(info, sinks);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  ASSERT_TRUE((*recorder)->Begin().ok());
  for (const AttemptRow& row : rows) {
    const absl::Status status = (*recorder)->Rows({row});
    ASSERT_TRUE(status.ok()) << status;
  }
  const absl::Status end = (*recorder)->End(v1::Attempt::STATE_COMPLETE, CountersJson({.configs_tested = 6}));
  ASSERT_TRUE(end.ok()) << end;
}

}  // namespace telemetry::worker::tune::recording
