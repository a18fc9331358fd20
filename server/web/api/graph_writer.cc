#include "server/web/api/graph_writer.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "proto/record/json.h"
#include "server/web/api/common.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;

void WriteOptional(JsonWriter& out, std::string_view key, bool has, const std::string& text) {
  has ? out.Field(key, text) : out.Field(key, nullptr);
}

// Writes members that are JSON texts, and texts, each if it is set.
class FeatureWriter {
 public:
  explicit FeatureWriter(JsonWriter& out) : out_(out) { out_.BeginObject("features"); }
  ~FeatureWriter() { out_.EndObject(); }
  FeatureWriter(const FeatureWriter&) = delete;
  FeatureWriter& operator=(const FeatureWriter&) = delete;

  void Text(std::string_view key, bool has, const std::string& text) {
    if (has) out_.Field(key, text);
  }
  void Json(std::string_view key, bool has, const std::string& text) {
    if (!has) return;
    const absl::StatusOr<record::Json> json = record::ParseJson(text);
    out_.Key(key);
    json.ok() ? WriteJson(*json, out_) : out_.Value(text);
  }
  // Writes the members of an object that the record had beside its known keys.
  void Extra(const std::string& text) {
    const absl::StatusOr<record::Json> json = record::ParseJson(text.empty() ? "{}" : text);
    if (!json.ok()) return;
    for (const auto& [key, value] : json->members) {
      out_.Key(json::CleanText(key, json::kListTextBytes));
      WriteJson(value, out_);
    }
  }

 private:
  JsonWriter& out_;
};

// The file and the line of "FILE:LINE".
std::pair<std::string, std::optional<int64_t>> ParseLocation(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, std::nullopt};
  int64_t line = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), line);
  if (error != std::errc() || end != text.data() + text.size()) return {text, std::nullopt};
  return {text.substr(0, colon), line};
}

void WriteFeatures(const v1::IrNode& node, JsonWriter& out) {
  FeatureWriter features(out);
  features.Text("lowering_class", node.has_lowering_class(), node.lowering_class());
  features.Text("device", node.has_device(), node.device());
  features.Json("block_ids", node.has_block_ids_json(), node.block_ids_json());
  features.Json("concrete_shape", node.has_concrete_shape_json(), node.concrete_shape_json());
  features.Json("stride", node.has_stride_json(), node.stride_json());
  features.Json("concrete_stride", node.has_concrete_stride_json(), node.concrete_stride_json());
  features.Json("value", node.has_value_json(), node.value_json());
  features.Json("input_dtypes", node.has_input_dtypes_json(), node.input_dtypes_json());
  features.Json("input_shapes", node.has_input_shapes_json(), node.input_shapes_json());
  features.Text("reduction_type", node.has_reduction_type(), node.reduction_type());
  features.Json("reduction_ranges", node.has_reduction_ranges_json(), node.reduction_ranges_json());
  features.Json("pointwise_ranges", node.has_pointwise_ranges_json(), node.pointwise_ranges_json());
  features.Extra(node.extra_json());
}

void WriteFeatures(const v1::IrEdge& edge, JsonWriter& out) {
  FeatureWriter features(out);
  features.Json("arg_positions", edge.has_arg_positions_json(), edge.arg_positions_json());
  features.Text("dtype", edge.has_dtype(), edge.dtype());
  features.Json("shape", edge.has_shape_json(), edge.shape_json());
  features.Extra(edge.extra_json());
}

}  // namespace

void WriteNode(const v1::IrNode& node, JsonWriter& out) {
  out.BeginObject();
  out.Field("id", node.id());
  out.Field("graph_id", node.graph_id());
  WriteOptional(out, "region_kind", node.has_region_kind(), node.region_kind());
  WriteOptional(out, "op_kind", node.has_op_kind(), node.op_kind());
  WriteOptional(out, "target", node.has_target(), node.target());
  WriteOptional(out, "dtype", node.has_dtype(), node.dtype());
  WriteOptional(out, "shape", node.has_shape_json(), node.shape_json());
  const auto [file, line] = ParseLocation(node.source_loc());
  WriteOptional(out, "source_file", node.has_source_loc(), file);
  out.Field("source_line", line);
  WriteFeatures(node, out);
  out.EndObject();
}

void WriteEdge(const v1::IrEdge& edge, JsonWriter& out) {
  out.BeginObject();
  out.Field("source", edge.source());
  out.Field("target", edge.target());
  WriteOptional(out, "edge_kind", edge.has_edge_kind(), edge.edge_kind());
  WriteFeatures(edge, out);
  out.EndObject();
}

}  // namespace telemetry::web::api
