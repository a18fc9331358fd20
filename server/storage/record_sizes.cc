#include "server/storage/record_sizes.h"

#include "absl/strings/str_cat.h"

namespace telemetry::storage {
namespace {

// Keeps the first that is too large.
class Sizes {
 public:
  explicit Sizes(const RecordSizes& most) : most_(most) {}

  void Source(uint64_t bytes) { Check("kernel_source", bytes, most_.source_bytes, "--max-source-bytes"); }
  void IrGraph(uint64_t bytes) { Check("the IR graph", bytes, most_.ir_graph_bytes, "--max-ir-graph-bytes"); }
  void Config(uint64_t bytes) { Check("the config's text", bytes, most_.config_bytes, "--max-config-bytes"); }
  void Json(const char* what, uint64_t bytes) { Check(what, bytes, most_.json_bytes, "--max-json-bytes"); }

  MaybeRefusal Result() && { return std::move(refusal_); }

 private:
  void Check(const char* what, uint64_t bytes, uint64_t most, const char* flag) {
    if (refusal_ || bytes <= most) return;
    refusal_ = Invalid(
        absl::StrCat(what, " has ", bytes, " bytes; this collector takes at most ", most, " (its flag ", flag, ")"));
  }

  const RecordSizes& most_;
  MaybeRefusal refusal_;
};

void Check(const v1::Run& run, Sizes& sizes) {
  sizes.Source(run.kernel_source().size());
  sizes.Json("settings_json", run.settings_json().size());
  sizes.Json("extra_json", run.extra_json().size());
}

void Check(const v1::Attempt& attempt, Sizes& sizes) {
  sizes.Json("environment_json", attempt.environment_json().size());
  sizes.Json("counters_json", attempt.counters_json().size());
}

void Check(const v1::IrGraph& graph, Sizes& sizes) {
  sizes.IrGraph(graph.ByteSizeLong());
  sizes.Json("attributes_json", graph.attributes_json().size());
  sizes.Json("extra_json", graph.extra_json().size());
  for (const v1::IrNode& node : graph.nodes()) sizes.Json("a node", node.ByteSizeLong());
  for (const v1::IrEdge& edge : graph.edges()) sizes.Json("an edge", edge.ByteSizeLong());
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
      sizes.Config(record.config().text().size());
      break;
    case v1::Record::kRunConfig:
      sizes.Json("record_keys_json", record.run_config().record_keys_json().size());
      break;
    case v1::Record::kIrGraph:
      Check(record.ir_graph(), sizes);
      break;
    default:
      break;
  }
  return std::move(sizes).Result();
}

}  // namespace telemetry::storage
