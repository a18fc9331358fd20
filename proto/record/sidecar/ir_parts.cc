#include "proto/record/sidecar/ir_parts.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "google/protobuf/message.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/record_members.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::string_view kNodeKeysPr2750[] = {
    "id",
    "graph_id",
    "region_kind",
    "block_ids",
    "op_kind",
    "target",
    "lowering_class",
    "dtype",
    "shape",
    "concrete_shape",
    "stride",
    "concrete_stride",
    "device",
    "value",
    "input_dtypes",
    "input_shapes",
    "reduction_type",
    "reduction_ranges",
    "pointwise_ranges",
    "source_loc",
};
constexpr std::string_view kNodeKeysHelion[] = {
    "graph_id",
    "region_kind",
    "block_ids",
    "op_kind",
    "target",
    "source_loc",
    "dtype",
    "shape",
    "concrete_shape",
    "stride",
    "concrete_stride",
    "device",
    "value",
    "lowering_class",
    "reduction_type",
    "reduction_ranges",
    "pointwise_ranges",
    "input_dtypes",
    "input_shapes",
    "id",
};
constexpr std::string_view kEdgeKeysPr2750[] = {"source", "target", "edge_kind", "arg_positions", "dtype", "shape"};
constexpr std::string_view kEdgeKeysHelion[] = {"edge_kind", "arg_positions", "dtype", "shape", "source", "target"};

// A key and its field, whose name is the key or the key and "_json".
struct PartKey {
  std::string_view key;
  const FieldDescriptor* field;
  bool is_json;
};
using PartKeys = std::vector<PartKey>;

PartKeys MakePartKeys(const google::protobuf::Descriptor* type, std::span<const std::string_view> keys) {
  PartKeys result;
  for (const std::string_view key : keys) {
    const FieldDescriptor* field = type->FindFieldByName(std::string(key));
    const FieldDescriptor* json_field = type->FindFieldByName(Cat(key, "_json"));
    result.push_back({.key = key, .field = field != nullptr ? field : json_field, .is_json = field == nullptr});
  }
  return result;
}

// Sets the field; returns false if the value does not have the field's type.
bool SetField(const PartKey& key, const Json& value, Message* part) {
  const auto* reflection = part->GetReflection();
  if (key.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    const std::optional<int64_t> number = ParseInt64(value.kind == Json::Kind::kNumber ? value.text : "");
    // "-0" would be written back as "0".
    if (!number.has_value() || Cat(*number) != value.text) return false;
    reflection->SetInt64(part, key.field, *number);
    return true;
  }
  if (value.is_null()) return key.field->has_presence();  // an unset field means null
  if (!key.is_json && value.kind != Json::Kind::kString) return false;
  reflection->SetString(part, key.field, key.is_json ? ToJson(value) : value.text);
  return true;
}

// The fields that nodes and edges have in common.
const FieldDescriptor* OmittedField(const Message& part) { return part.GetDescriptor()->FindFieldByName("omitted"); }
const FieldDescriptor* ExtraField(const Message& part) { return part.GetDescriptor()->FindFieldByName("extra_json"); }

absl::Status ParsePart(const Json& object, const PartKeys& keys, Message* part) {
  if (object.kind != Json::Kind::kObject) return absl::InvalidArgumentError("not an object");
  RecordMembers members(object);
  const auto* reflection = part->GetReflection();
  for (const PartKey& key : keys) {
    const bool is_name = key.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !key.field->has_presence();
    const Json* value = members.Find(key.key);
    if (value != nullptr && SetField(key, *value, part)) {
      members.Take(key.key);
    } else if (is_name) {
      return absl::InvalidArgumentError(Cat(key.key, ": ", value == nullptr ? "missing" : "not a string"));
    } else if (value == nullptr) {
      reflection->AddString(part, OmittedField(*part), std::string(key.key));
    }
  }
  if (std::string extra = members.RestJson(); !extra.empty()) {
    reflection->SetString(part, ExtraField(*part), std::move(extra));
  }
  return absl::OkStatus();
}

void WriteField(const PartKey& key, const Message& part, RecordWriter* writer) {
  const auto* reflection = part.GetReflection();
  if (key.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    return writer->Text(key.key, Cat(reflection->GetInt64(part, key.field)));
  }
  if (key.field->has_presence() && !reflection->HasField(part, key.field)) return writer->Null(key.key);
  std::string scratch;
  const std::string& value = reflection->GetStringReference(part, key.field, &scratch);
  if (key.is_json) {
    writer->Text(key.key, value);
  } else {
    writer->String(key.key, value);
  }
}

// Returns the known keys that are not written at their place: absent keys and keys whose value is in the extras.
template <typename Part>
std::vector<std::string> KeysToSkip(const Part& part) {
  std::vector<std::string> skipped(part.omitted().begin(), part.omitted().end());
  if (part.extra_json().empty()) return skipped;
  const absl::StatusOr<Json> extra = ParseJson(part.extra_json());
  if (!extra.ok()) return skipped;
  for (const auto& member : extra->members) skipped.push_back(member.first);
  return skipped;
}

template <typename Part>
void AppendPart(const Part& part, const PartKeys& keys, std::string* out) {
  const std::vector<std::string> skipped = KeysToSkip(part);
  RecordWriter writer(out);
  for (const PartKey& key : keys) {
    if (std::find(skipped.begin(), skipped.end(), key.key) == skipped.end()) WriteField(key, part, &writer);
  }
  writer.WriteMembers(part.extra_json());
  writer.Close();
}

const PartKeys& NodeKeys(KeyOrder order) {
  static const auto* const pr2750 = new PartKeys(MakePartKeys(v1::IrNode::descriptor(), kNodeKeysPr2750));
  static const auto* const helion = new PartKeys(MakePartKeys(v1::IrNode::descriptor(), kNodeKeysHelion));
  return order == KeyOrder::kPr2750 ? *pr2750 : *helion;
}

const PartKeys& EdgeKeys(KeyOrder order) {
  static const auto* const pr2750 = new PartKeys(MakePartKeys(v1::IrEdge::descriptor(), kEdgeKeysPr2750));
  static const auto* const helion = new PartKeys(MakePartKeys(v1::IrEdge::descriptor(), kEdgeKeysHelion));
  return order == KeyOrder::kPr2750 ? *pr2750 : *helion;
}

}  // namespace

absl::Status ParseIrNode(const Json& object, v1::IrNode* node) {
  return ParsePart(object, NodeKeys(KeyOrder::kPr2750), node);
}

absl::Status ParseIrEdge(const Json& object, v1::IrEdge* edge) {
  return ParsePart(object, EdgeKeys(KeyOrder::kPr2750), edge);
}

void AppendIrNode(const v1::IrNode& node, KeyOrder order, std::string* out) { AppendPart(node, NodeKeys(order), out); }
void AppendIrEdge(const v1::IrEdge& edge, KeyOrder order, std::string* out) { AppendPart(edge, EdgeKeys(order), out); }

}  // namespace telemetry::record::sidecar
