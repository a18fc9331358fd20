#include "server/storage/record_sizes.h"

#include "absl/strings/str_cat.h"

namespace telemetry::storage {
namespace {

// Collects the first part that is too large.
class Sizes {
 public:
  explicit Sizes(const RecordSizes& most) : most_(most) {}

  void Source(uint64_t bytes) { CheckFlag("kernel_source", bytes, most_.source_bytes, "--max-source-bytes"); }
  void IrGraph(uint64_t bytes) { CheckFlag("the IR graph", bytes, most_.ir_graph_bytes, "--max-ir-graph-bytes"); }
  void Config(const char* what, uint64_t bytes) { CheckFlag(what, bytes, most_.config_bytes, "--max-config-bytes"); }
  void Json(const char* what, uint64_t bytes) { CheckFlag(what, bytes, most_.json_bytes, "--max-json-bytes"); }
  void Failure(uint64_t bytes) { CheckFlag("failure", bytes, most_.failure_bytes, "--max-failure-bytes"); }
  void Event(uint64_t bytes) { CheckFlag("the event's text", bytes, most_.event_bytes, "--max-event-bytes"); }
  void Name(const char* what, uint64_t bytes) { Check(what, bytes, "bytes", kMaxNameBytes); }
  void Text(const char* what, uint64_t bytes) { Check(what, bytes, "bytes", kMaxTextBytes); }
  void Count(const char* what, uint64_t count, const char* unit, uint64_t most) { Check(what, count, unit, most); }

  MaybeRefusal Result() && { return std::move(refusal_); }

 private:
  void Check(const char* what, uint64_t size, const char* unit, uint64_t most, const char* flag = nullptr) {
    if (refusal_ || size <= most) return;
    const std::string source = flag == nullptr ? "" : absl::StrCat(" (its flag ", flag, ")");
    refusal_ = Invalid(absl::StrCat(what, " has ", size, " ", unit, "; this collector takes at most ", most, source));
  }
  void CheckFlag(const char* what, uint64_t bytes, uint64_t most, const char* flag) {
    Check(what, bytes, "bytes", most, flag);
  }

  const RecordSizes& most_;
  MaybeRefusal refusal_;
};

void Check(const v1::Run& run, Sizes& sizes) {
  sizes.Text("kernel_name", run.kernel_name().size());
  sizes.Source(run.kernel_source().size());
  sizes.Text("input_shapes", run.input_shapes().size());
  sizes.Text("dtypes", run.dtypes().size());
  sizes.Name("hardware", run.hardware().size());
  sizes.Text("settings_signature", run.settings_signature().size());
  sizes.Json("settings_json", run.settings_json().size());
  sizes.Json("extra_json", run.extra_json().size());
}

void Check(const v1::Attempt& attempt, Sizes& sizes) {
  sizes.Name("origin", attempt.origin().size());
  sizes.Count("supersedes", attempt.supersedes_size(), "ids", kMaxSuperseded);
  sizes.Name("search_algorithm", attempt.search_algorithm().size());
  sizes.Json("environment_json", attempt.environment_json().size());
  sizes.Json("counters_json", attempt.counters_json().size());
  sizes.Name("dialect", attempt.dialect().size());
}

void Check(const v1::RunConfig& config, Sizes& sizes) {
  sizes.Config("decorator", config.decorator().size());
  sizes.Json("record_keys_json", config.record_keys_json().size());
}

void Check(const v1::Measurement& measurement, Sizes& sizes) {
  sizes.Name("status", measurement.status().size());
  if (measurement.has_failure()) sizes.Failure(measurement.failure().ByteSizeLong());
}

void Check(const v1::AttemptEvent& event, Sizes& sizes) {
  sizes.Name("name", event.name().size());
  sizes.Event(event.text().size());
}

void Check(const v1::IrGraph& graph, Sizes& sizes) {
  const auto parts = static_cast<uint64_t>(graph.nodes_size()) + static_cast<uint64_t>(graph.edges_size());
  sizes.Count("the IR graph", parts, "nodes and edges", kMaxGraphParts);
  sizes.IrGraph(graph.ByteSizeLong());
  sizes.Json("attributes_json", graph.attributes_json().size());
  sizes.Json("extra_json", graph.extra_json().size());
  for (const v1::IrNode& node : graph.nodes()) sizes.Json("a node", node.ByteSizeLong());
  for (const v1::IrEdge& edge : graph.edges()) sizes.Json("an edge", edge.ByteSizeLong());
}

void Check(const v1::Reject& reject, Sizes& sizes) {
  sizes.Text("message", reject.message().size());
  sizes.Name("source", reject.source().size());
  sizes.Name("origin", reject.origin().size());
}

}  // namespace

MaybeRefusal CheckSizes(const v1::Record& record, const RecordSizes& most) {
  Sizes sizes(most);
  switch (record.kind_case()) {
    case v1::Record::kRun:
      Check(record.run(), sizes);
      break;
    case v1::Record::kAttempt:
      Check(record.attempt(), sizes);
      break;
    case v1::Record::kConfig:
      sizes.Config("the config's text", record.config().text().size());
      break;
    case v1::Record::kRunConfig:
      Check(record.run_config(), sizes);
      break;
    case v1::Record::kMeasurement:
      Check(record.measurement(), sizes);
      break;
    case v1::Record::kSourceHash:
      sizes.Name("source_hash", record.source_hash().source_hash().size());
      break;
    case v1::Record::kMeasurementDetail:
      sizes.Count("samples_ms", record.measurement_detail().samples_ms_size(), "samples", kMaxSamples);
      break;
    case v1::Record::kAttemptEvent:
      Check(record.attempt_event(), sizes);
      break;
    case v1::Record::kIrGraph:
      Check(record.ir_graph(), sizes);
      break;
    case v1::Record::kReject:
      Check(record.reject(), sizes);
      break;
    case v1::Record::KIND_NOT_SET:
      break;
  }
  return std::move(sizes).Result();
}

}  // namespace telemetry::storage
