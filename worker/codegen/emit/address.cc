#include "worker/codegen/emit/address.h"

#include "worker/codegen/access.h"

namespace telemetry::worker::codegen::emit {

using ir::Index;
using record::Cat;

std::string AddressOfAccess(const TileCode& code, const ir::Graph& graph, const ir::Node& node, int set,
                            const ElementFunction& element) {
  const int tensor_index = AccessedTensor(graph, node);
  const ir::HostTensor& tensor = code.ir().tensors[static_cast<size_t>(tensor_index)];
  const std::vector<Index> indices = ir::ReadIndices(graph, node);
  const bool wide = IsWide(tensor);
  std::string sum;
  for (size_t d = 0; d < indices.size(); ++d) {
    const ir::Size& stride = tensor.strides[d];
    if (tensor.sizes[d].is_static && tensor.sizes[d].value == 1 && indices[d].kind == Index::Kind::kAxis) continue;
    if (stride.is_static && stride.value == 0) continue;
    std::string index;
    bool is_long = false;
    switch (indices[d].kind) {
      case Index::Kind::kAxis:
        index = code.Position(set, indices[d].axis);
        break;
      case Index::Kind::kGather:
        index = element(ir::Arg{indices[d].value}, wide ? text::RegisterType::kLong : text::RegisterType::kInt);
        is_long = wide;
        break;
      case Index::Kind::kLiteral:
        index = std::to_string(indices[d].literal);
        break;
    }
    if (index == "0") continue;
    if (wide && !is_long) index = Cat("(i64)", index);
    const std::string factor = StrideExpression(stride, tensor_index, static_cast<int>(d));
    sum += Cat(sum.empty() ? "" : " + ", index, factor == "1" ? "" : Cat(" * ", factor));
  }
  return Cat(TensorName(tensor_index), sum.empty() ? "" : " + ", sum);
}

std::string AddressOfLoad(const TileCode& code, const ir::Graph& graph, const ir::Node& load, int set) {
  return AddressOfAccess(code, graph, load, set, [](const ir::Arg&, text::RegisterType) { return std::string(); });
}

std::string RegisterOffsetOfLoad(const TileCode& code, const ir::Graph& graph, const ir::Node& load, int set) {
  const int tensor_index = AccessedTensor(graph, load);
  const ir::HostTensor& tensor = code.ir().tensors[static_cast<size_t>(tensor_index)];
  const std::vector<Index> indices = ir::ReadIndices(graph, load);
  std::string sum;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].kind != Index::Kind::kAxis) continue;
    const plan::AxisLayout& layout = code.set(set).of(indices[d].axis);
    if (layout.Registers() == 1) continue;
    const std::string offset = layout.RegisterOffset(TileCode::RegisterIndex(indices[d].axis));
    const std::string factor = StrideExpression(tensor.strides[d], tensor_index, static_cast<int>(d));
    sum += Cat(sum.empty() ? "" : " + ", IsWide(tensor) ? "(i64)" : "", "(", offset, ") * ", factor);
  }
  return sum.empty() ? "0" : sum;
}

std::string TensorName(int tensor) { return Cat("t", tensor); }

std::string StrideExpression(const ir::Size& stride, int tensor, int dimension) {
  return stride.is_static ? std::to_string(stride.value) : Cat("stride", tensor, "_", dimension);
}

}  // namespace telemetry::worker::codegen::emit
