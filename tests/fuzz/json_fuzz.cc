// Fuzzes the JSON parser: a value that is read is written as text that is read as the same value, in all layouts. A
// record that is read is written as text that is read and written as the same record.

#include <string>
#include <string_view>

#include "proto/record/json.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/sidecar/meta_record.h"
#include "tests/fuzz/fuzz.h"

namespace telemetry::record::sidecar {
namespace {

using fuzz::Require;

void CheckLayouts(const Json& value) {
  const absl::StatusOr<Json> again = ParseJson(ToJson(value));
  Require(again.ok() && *again == value, "dumps and loads");
  const absl::StatusOr<Json> indented = ParseJson(ToIndentedJson(value));
  Require(indented.ok() && *indented == value, "dumps with indent and loads");
  const std::string canonical = ToCanonicalJson(value);
  const absl::StatusOr<Json> sorted = ParseJson(canonical);
  Require(sorted.ok() && ToCanonicalJson(*sorted) == canonical, "the canonical form is its own");
}

std::string WriteMeta(const MetaRecord& meta) {
  return FormatHelionMeta(meta.run, meta.ir_graph.has_value() ? &*meta.ir_graph : nullptr, meta.configs);
}

void CheckHelionMeta(const MetaRecord& meta) {
  const std::string line = WriteMeta(meta);
  const absl::StatusOr<Json> json = ParseJson(line);
  Require(json.ok(), "a helion record is JSON");
  const absl::StatusOr<MetaRecord> again = ParseMetaRecord(*json);
  Require(again.ok() && WriteMeta(*again) == line, "a helion record comes back");
}

void CheckPullRequestMeta(const v1::Run& run) {
  const absl::StatusOr<Json> json = ParseJson(FormatPr2750Meta(run));
  Require(json.ok(), "a pr2750 record is JSON");
  const absl::StatusOr<MetaRecord> again = ParseMetaRecord(*json);
  Require(again.ok() && FormatPr2750Meta(again->run) == FormatPr2750Meta(run), "a pr2750 record comes back");
  Require(ParseJson(FormatPr2699Meta(run)).ok(), "a pr2699 record is JSON");
}

void CheckIr(const v1::IrGraph& graph) {
  v1::Run run;
  run.set_run_id(graph.run_id());
  const std::string line = FormatIrRecord(graph, run);
  const absl::StatusOr<Json> json = ParseJson(line);
  Require(json.ok(), "an IR record is JSON");
  const absl::StatusOr<v1::IrGraph> again = ParseIrRecord(*json);
  Require(again.ok() && FormatIrRecord(*again, run) == line, "an IR record comes back");
  Require(ParseJson(FormatHelionIrGraph(graph)).ok(), "a helion graph is JSON");
}

}  // namespace
}  // namespace telemetry::record::sidecar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace telemetry::record;
  using namespace telemetry::record::sidecar;
  const absl::StatusOr<Json> value = ParseJson({reinterpret_cast<const char*>(data), size});
  if (!value.ok()) return 0;
  CheckLayouts(*value);
  if (const absl::StatusOr<MetaRecord> meta = ParseMetaRecord(*value); meta.ok()) {
    if (value->Find("kernel_id") == nullptr) {
      CheckHelionMeta(*meta);
    } else {
      CheckPullRequestMeta(meta->run);
    }
  }
  if (const auto graph = ParseIrRecord(*value); graph.ok()) CheckIr(*graph);
  return 0;
}
