#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/graph.h"
#include "worker/ir/roll.h"

namespace telemetry::worker::ir {
namespace {

using record::Cat;

// Returns the shortest text that reads back as the same number.
std::string NumberText(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), number).ptr;
  return std::string(buffer, end);
}

std::string ShapeText(const std::vector<int>& shape) {
  return absl::StrCat(
      "[", absl::StrJoin(shape, ", ", [](std::string* out, int axis) { absl::StrAppend(out, "u", axis); }), "]");
}

class Printer {
 public:
  explicit Printer(const DeviceIr& ir) : ir_(ir) {}

  std::string Print() {
    Line(Cat("kernel ", ir_.kernel_name));
    for (const Axis& axis : ir_.axes) PrintAxis(axis);
    for (const HostTensor& tensor : ir_.tensors) PrintTensor(tensor);
    for (const ScalarParameter& scalar : ir_.scalars) Line(Cat("scalar ", scalar.name, " : ", ShortName(scalar.dtype)));
    for (const Graph& graph : ir_.graphs) PrintGraph(graph);
    for (const RolledReduction& rolled : ir_.rolled) {
      Line(Cat("rolled: graph ", rolled.original_graph, " as graph ", rolled.rolled_graph, ", axes ",
               ShapeText(rolled.axes)));
    }
    for (const Axis& axis : ir_.axes) {
      const std::string why = WhyNotRolled(ir_, axis.id);
      if (!why.empty()) Line(Cat("not rolled: ", axis.symbol(), ": ", why));
    }
    return std::move(text_);
  }

 private:
  void Line(const std::string& line) { absl::StrAppend(&text_, line, "\n"); }

  void PrintAxis(const Axis& axis) {
    const char* kind = axis.kind == AxisKind::kGrid ? "grid" : axis.kind == AxisKind::kLoop ? "loop" : "reduction";
    Line(Cat("axis ", axis.symbol(), " : ", kind, " of ", axis.extent.text,
             axis.fixed_block == 0 ? "" : absl::StrCat(", blocks of ", axis.fixed_block)));
  }

  void PrintTensor(const HostTensor& tensor) {
    const std::string sizes =
        absl::StrJoin(tensor.sizes, ", ", [](std::string* out, const Size& size) { out->append(size.text); });
    Line(Cat(tensor.is_output ? "output " : "tensor ", tensor.name, " : ", ShortName(tensor.dtype), "[", sizes, "]"));
  }

  void PrintGraph(const Graph& graph) {
    Line(Cat("graph ", graph.id, " ", GraphKindName(graph.kind), graph.name.empty() ? "" : " ", graph.name,
             graph.axes.empty() ? "" : Cat(" ", ShapeText(graph.axes)), ":"));
    for (const Node& node : graph.nodes) Line(Cat("  ", NodeText(graph, node)));
  }

  std::string NodeText(const Graph& graph, const Node& node) const {
    std::string text = Cat("%", node.name);
    if (node.dtype.has_value()) absl::StrAppend(&text, " : ", Cat(ShortName(*node.dtype), ShapeText(node.shape)));
    std::string parts =
        absl::StrJoin(node.args, ", ", [&](std::string* out, const Arg& arg) { out->append(ArgText(graph, arg)); });
    for (const std::string& attribute : Attributes(node)) {
      absl::StrAppend(&parts, parts.empty() ? "" : ", ", attribute);
    }
    text = Cat(text, " = ", BaseName(node.op), "(", parts, ")");
    if (!node.location.file.empty()) absl::StrAppend(&text, "  # ", node.location.file, ":", node.location.line);
    return text;
  }

  std::vector<std::string> Attributes(const Node& node) const {
    std::vector<std::string> attributes;
    for (int graph : node.graphs) attributes.push_back(absl::StrCat("graph=", graph));
    if (node.op == Op::kFull) attributes.push_back(NumberText(node.value));
    if (node.op != Op::kBlockSize && node.axis != -1) attributes.push_back(absl::StrCat("axis=u", node.axis));
    if (node.op == Op::kBlockSize) attributes.push_back(absl::StrCat("u", node.axis));
    return attributes;
  }

  std::string ArgText(const Graph& graph, const Arg& arg) const {
    return std::visit([&](const auto& value) { return FormatArg(graph, value); }, arg.value);
  }

  std::string FormatArg(const Graph&, std::monostate) const { return "None"; }
  std::string FormatArg(const Graph& graph, NodeRef ref) const { return Cat("%", graph.at(ref).name); }
  std::string FormatArg(const Graph&, bool value) const { return value ? "True" : "False"; }
  std::string FormatArg(const Graph&, int64_t value) const { return absl::StrCat(value); }
  std::string FormatArg(const Graph&, double value) const { return NumberText(value); }
  std::string FormatArg(const Graph&, const std::string& value) const { return Cat("'", value, "'"); }
  std::string FormatArg(const Graph&, device::DType value) const { return std::string(ShortName(value)); }
  std::string FormatArg(const Graph&, Slice slice) const { return absl::StrCat(":u", slice.axis); }
  std::string FormatArg(const Graph& graph, const Arg::List& list) const {
    return absl::StrCat(
        "[", absl::StrJoin(list, ", ", [&](std::string* out, const Arg& item) { out->append(ArgText(graph, item)); }),
        "]");
  }
  std::string FormatArg(const Graph& graph, const Arg::Map& map) const {
    return absl::StrCat("{",
                        absl::StrJoin(map, ", ",
                                      [&](std::string* out, const auto& item) {
                                        absl::StrAppend(out, item.first, ": ", ArgText(graph, item.second));
                                      }),
                        "}");
  }

  const DeviceIr& ir_;
  std::string text_;
};

}  // namespace

std::string DebugString(const DeviceIr& ir) { return Printer(ir).Print(); }

}  // namespace telemetry::worker::ir
