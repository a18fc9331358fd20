#include "worker/ir/verify_node.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "worker/ir/args.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

class NodeChecker {
 public:
  NodeChecker(const DeviceIr& ir, const Graph& graph, const Node& node) : ir_(ir), graph_(graph), node_(node) {}

  std::string Check() const {
    if (IsPointwise(node_.op)) return node_.op == Op::kConvert ? CheckOneToOne() : CheckPointwise();
    if (IsReduction(node_.op)) return CheckReduction();
    switch (node_.op) {
      case Op::kHostTensor:
        return Exists(node_.tensor, ir_.tensors.size()) && !node_.dtype ? "" : "names no tensor, or has a dtype";
      case Op::kBlockSize:
        return CheckBlockSize();
      case Op::kScalar:
        return CheckScalar();
      case Op::kLoad:
      case Op::kStore:
        return CheckMemory();
      case Op::kIndex:
      case Op::kTileBegin:
      case Op::kTileEnd:
        return CheckPosition();
      case Op::kMaskTo:
        return CheckOneToOne();
      case Op::kDot:
        return CheckDot();
      case Op::kOutput:
        return CheckOutput();
      case Op::kPlaceholder:
      case Op::kFull:
        return node_.dtype.has_value() && node_.args.empty() ? "" : "has no dtype, or has arguments";
      default:
        return "";
    }
  }

 private:
  static bool Exists(int index, size_t count) { return index >= 0 && static_cast<size_t>(index) < count; }

  // Returns the value that an argument names, or nullptr if it names none.
  const Node* ValueAt(size_t arg) const { return arg < node_.args.size() ? FindValue(node_.args[arg]) : nullptr; }
  const Node* FindValue(const Arg& arg) const {
    const NodeRef* ref = AsRef(arg);
    return ref != nullptr && graph_.at(*ref).dtype.has_value() ? &graph_.at(*ref) : nullptr;
  }

  std::string CheckOutput() const {
    const Arg::List* results = node_.args.size() == 1 ? AsList(node_.args[0]) : nullptr;
    if (results == nullptr) return "has no list of results";
    const bool values = std::all_of(results->begin(), results->end(),
                                    [this](const Arg& result) { return FindValue(result) != nullptr; });
    return values ? "" : "has a result without a value";
  }

  std::string CheckBlockSize() const {
    if (!Exists(node_.axis, ir_.axes.size()) || node_.dtype) return "names no axis, or has a dtype";
    const bool whole = ir_.axes[static_cast<size_t>(node_.axis)].kind == AxisKind::kReduction;
    return whole ? "names a reduction axis, which only a slice can index" : "";
  }

  std::string CheckScalar() const {
    if (!Exists(node_.scalar, ir_.scalars.size())) return "names no scalar";
    const bool fits = node_.dtype == ir_.scalars[static_cast<size_t>(node_.scalar)].dtype && node_.shape.empty();
    return fits ? "" : "is not of the scalar's dtype, or has axes";
  }

  std::string CheckPosition() const {
    if (!Exists(node_.axis, ir_.axes.size())) return "names no axis";
    const std::vector<int> shape = node_.op == Op::kIndex ? std::vector<int>{node_.axis} : std::vector<int>{};
    return node_.dtype == DType::kI32 && node_.shape == shape ? "" : "is not i32 along its axis";
  }

  std::string CheckMemory() const {
    const size_t wanted = node_.op == Op::kLoad ? 2 : 3;
    if (node_.args.size() != wanted) return "has a wrong number of arguments";
    const NodeRef* host = AsRef(node_.args[0]);
    const Arg::List* indices = AsList(node_.args[1]);
    if (host == nullptr || graph_.at(*host).op != Op::kHostTensor || indices == nullptr) {
      return "has arguments that are not a host tensor and a list of indices";
    }
    const HostTensor& tensor = ir_.tensors[static_cast<size_t>(graph_.at(*host).tensor)];
    if (indices->size() != tensor.sizes.size()) return "does not have one index per dimension";
    std::vector<int> shape;
    for (size_t i = 0; i < indices->size(); ++i) {
      std::string wrong = CheckIndex((*indices)[i], tensor.sizes[i], &shape);
      if (!wrong.empty()) return wrong;
    }
    return node_.op == Op::kLoad ? CheckLoaded(tensor, shape) : CheckStored(shape);
  }

  std::string CheckIndex(const Arg& index, const Size& size, std::vector<int>* shape) const {
    if (const auto* literal = std::get_if<int64_t>(&index.value)) {
      return *literal >= 0 && *literal < size.value ? "" : "has an index outside of the dimension";
    }
    if (const auto* slice = std::get_if<Slice>(&index.value)) {
      const bool fits = Exists(slice->axis, ir_.axes.size()) &&
                        ir_.axes[static_cast<size_t>(slice->axis)].kind == AxisKind::kReduction;
      *shape = UnionOfAxes(*shape, {slice->axis});
      return fits ? "" : "has a slice of an axis that is not a reduction axis";
    }
    const NodeRef* ref = AsRef(index);
    if (ref == nullptr) return "has an index of an unsupported type";
    const Node& used = graph_.at(*ref);
    *shape = UnionOfAxes(*shape, used.op == Op::kBlockSize ? std::vector<int>{used.axis} : used.shape);
    return used.op == Op::kBlockSize || (used.dtype && IsInteger(*used.dtype)) ? ""
                                                                               : "has an index that is not an integer";
  }

  std::string CheckLoaded(const HostTensor& tensor, const std::vector<int>& shape) const {
    if (node_.dtype != tensor.dtype) return "does not have the tensor's dtype";
    return SameAxes(node_.shape, shape) ? "" : "does not have the axes of its indices";
  }

  std::string CheckStored(const std::vector<int>& shape) const {
    const Node* value = ValueAt(2);
    if (value == nullptr || node_.dtype) return "stores no value, or has a dtype";
    return AxisNotIn(value->shape, shape) == -1 ? "" : "stores an axis that no index has";
  }

  // Checks kConvert and kMaskTo.
  std::string CheckOneToOne() const {
    const Node* input = ValueAt(0);
    if (input == nullptr || !node_.dtype.has_value()) return "has no input value, or no dtype";
    if (node_.op == Op::kMaskTo && input->dtype != node_.dtype) return "changes the dtype";
    return SameAxes(input->shape, node_.shape) ? "" : "changes the axes";
  }

  std::string CheckPointwise() const {
    if (static_cast<int>(node_.args.size()) != Arity(node_.op) || !node_.dtype)
      return "has a wrong number of arguments";
    std::vector<int> shape;
    const Node* first_value = nullptr;
    size_t i = 0;
    if (node_.op == Op::kWhere) {
      const Node* condition = ValueAt(i++);
      if (condition == nullptr || condition->dtype != DType::kBool) return "has a condition that is not bool";
      shape = condition->shape;
    }
    for (; i < node_.args.size(); ++i) {
      const Node* value = ValueAt(i);
      if (value == nullptr) {
        if (!IsNumber(node_.args[i])) return "has an argument that is neither a value nor a number";
        continue;
      }
      if (first_value == nullptr) first_value = value;
      if (!CanCombine(*first_value->dtype, *value->dtype)) return "mixes dtypes";
      shape = UnionOfAxes(shape, value->shape);
    }
    if (!SameAxes(node_.shape, shape)) return "does not have the axes of its operands";
    if (first_value == nullptr) return node_.op == Op::kWhere ? "" : "has only numbers as operands";
    return CheckResult(*first_value->dtype);
  }

  static bool IsNumber(const Arg& arg) {
    return std::holds_alternative<int64_t>(arg.value) || std::holds_alternative<double>(arg.value);
  }

  std::string CheckResult(DType operands) const {
    for (const Arg& arg : node_.args) {
      const bool fraction = std::holds_alternative<double>(arg.value);
      if (fraction && !IsFloat(operands)) return "has a floating-point number among integers";
    }
    const bool arithmetic = !IsComparison(node_.op) && !IsLogic(node_.op) && node_.op != Op::kWhere;
    if (IsLogic(node_.op) && operands != DType::kBool) return "is a logical operation on values that are not bool";
    if (arithmetic && operands == DType::kBool) return "is arithmetic on bool";
    const bool needs_float = node_.op == Op::kDiv || (node_.op >= Op::kExp && node_.op <= Op::kCos);
    if (needs_float && !IsFloat(operands)) return "is not supported for integers";
    const DType result = IsComparison(node_.op) ? DType::kBool : operands;
    return CanCombine(*node_.dtype, result) ? "" : "has a dtype that does not follow from its operands";
  }

  bool IsMasked(const Node& input, double neutral) const { return input.op == Op::kMaskTo && input.value == neutral; }

  std::string CheckReduction() const {
    const Node* input = ValueAt(0);
    if (input == nullptr || !HasAxis(input->shape, node_.axis)) return "reduces along an axis that its input lacks";
    if (input->dtype == DType::kBool && node_.op != Op::kSum) return "is not supported for bool";
    if (node_.dtype != TypeOfReduction(node_.op, *input->dtype))
      return "has a dtype that does not follow from its input";
    if (!SameAxes(node_.shape, WithoutAxis(input->shape, node_.axis))) return "does not have its input's other axes";
    return IsMasked(*input, NeutralValue(node_.op, *input->dtype)) ? "" : "has an input that is not masked";
  }

  std::string CheckDot() const {
    const Node* a = ValueAt(0);
    const Node* b = ValueAt(1);
    if (a == nullptr || b == nullptr || node_.args.size() > 3) return "has a wrong number of arguments";
    if (!HasAxis(a->shape, node_.axis) || !HasAxis(b->shape, node_.axis))
      return "sums along an axis that one operand lacks";
    if (a->dtype != b->dtype || !IsFloat(*a->dtype) || node_.dtype != DType::kF32)
      return "has dtypes that do not match";
    const std::vector<int> shape = WithoutAxis(UnionOfAxes(a->shape, b->shape), node_.axis);
    if (!SameAxes(node_.shape, shape)) return "does not have the axes of its operands";
    for (int axis : WithoutAxis(a->shape, node_.axis)) {
      if (HasAxis(b->shape, axis) && ir_.axes[static_cast<size_t>(axis)].fixed_block != 1) {
        return "has an axis on both sides whose block is not 1";
      }
    }
    if (!IsMasked(*a, 0) || !IsMasked(*b, 0)) return "has an input that is not masked";
    if (node_.args.size() == 2) return "";
    const Node* accumulator = ValueAt(2);
    const bool fits =
        accumulator != nullptr && accumulator->dtype == DType::kF32 && SameAxes(accumulator->shape, shape);
    return fits ? "" : "has an accumulator with a wrong dtype or wrong axes";
  }

  const DeviceIr& ir_;
  const Graph& graph_;
  const Node& node_;
};

}  // namespace

std::string WhatIsWrongWith(const DeviceIr& ir, const Graph& graph, const Node& node) {
  return NodeChecker(ir, graph, node).Check();
}

}  // namespace telemetry::worker::ir
