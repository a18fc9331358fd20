#include "server/web/api/graph_parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string_view>

#include "proto/base/status_macros.h"

namespace telemetry::web::api {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

absl::Status NoGraph() { return absl::DataLossError("cannot parse a stored IR graph"); }

// Calls `use` with the number and the bytes of each field. The bytes contain the tag.
absl::Status ForEachField(const std::string& message, const std::function<absl::Status(int, std::string_view)>& use) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()), static_cast<int>(message.size()));
  while (true) {
    const auto from = static_cast<size_t>(in.CurrentPosition());
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return from == message.size() ? absl::OkStatus() : NoGraph();
    if (!WireFormatLite::SkipField(&in, tag)) return NoGraph();
    const auto to = static_cast<size_t>(in.CurrentPosition());
    RETURN_IF_ERROR(use(WireFormatLite::GetTagFieldNumber(tag), std::string_view(message).substr(from, to - from)));
  }
}

// A graph with one field is parsed from the bytes of the field.
absl::Status ParseField(std::string_view bytes, v1::IrGraph* graph) {
  graph->Clear();
  return graph->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? absl::OkStatus() : NoGraph();
}

}  // namespace

absl::StatusOr<v1::IrGraph> ParseGraphHead(const std::string& graph) {
  std::string bytes;
  RETURN_IF_ERROR(ForEachField(graph, [&](int field, std::string_view part) {
    if (field != v1::IrGraph::kNodesFieldNumber && field != v1::IrGraph::kEdgesFieldNumber) bytes += part;
    return absl::OkStatus();
  }));
  v1::IrGraph head;
  RETURN_IF_ERROR(ParseField(bytes, &head));
  return head;
}

absl::Status ForEachNode(const std::string& graph, const std::function<void(const v1::IrNode&)>& use) {
  v1::IrGraph part;
  return ForEachField(graph, [&](int field, std::string_view bytes) {
    if (field != v1::IrGraph::kNodesFieldNumber) return absl::OkStatus();
    RETURN_IF_ERROR(ParseField(bytes, &part));
    for (const v1::IrNode& node : part.nodes()) use(node);
    return absl::OkStatus();
  });
}

absl::Status ForEachEdge(const std::string& graph, const std::function<void(const v1::IrEdge&)>& use) {
  v1::IrGraph part;
  return ForEachField(graph, [&](int field, std::string_view bytes) {
    if (field != v1::IrGraph::kEdgesFieldNumber) return absl::OkStatus();
    RETURN_IF_ERROR(ParseField(bytes, &part));
    for (const v1::IrEdge& edge : part.edges()) use(edge);
    return absl::OkStatus();
  });
}

}  // namespace telemetry::web::api
