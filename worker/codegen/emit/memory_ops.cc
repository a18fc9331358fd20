#include "worker/codegen/emit/memory_ops.h"

#include <algorithm>
#include <functional>

#include "worker/codegen/access.h"
#include "worker/codegen/emit/address.h"
#include "worker/codegen/emit/quad_store.h"

namespace telemetry::worker::codegen::emit {
namespace {

using device::DType;
using record::Cat;

// The load or store that is being emitted.
struct Accessing {
  TileCode& code;
  const ir::Graph& graph;
  const ir::Node& node;
  int tensor;
  const plan::AccessPlan& plan;
  int set;
  const ElementFunction& element;

  const ir::HostTensor& host() const { return code.ir().tensors[static_cast<size_t>(tensor)]; }
};

// The vectors of an access: the axis along which elements are moved together, and their number.
struct Vector {
  int axis = -1;
  int64_t length = 1;
  bool whole = true;  // the end of the axis splits no vector
};

Vector VectorFor(const Accessing& access, const std::vector<int>& axes) {
  const plan::LayoutSet& layout = access.code.set(access.set);
  const std::vector<int> ordered = layout.Ordered(axes);
  if (ordered.empty()) return {};
  // Elements that are consecutive in the tensor are consecutive in the array only along the last axis with registers.
  int axis = -1;
  for (const int candidate : ordered) {
    if (layout.of(candidate).Registers() > 1) axis = candidate;
  }
  if (axis < 0) return {};
  const int64_t length =
      AlignedVector(access.code.ir(), access.graph, access.node, axis,
                    std::min(layout.of(axis).VectorLength(), access.plan.vector_width), access.code.plan().blocks);
  const ir::Size& extent = access.code.ir().axes[static_cast<size_t>(axis)].extent;
  const bool whole = extent.is_static && extent.value % length == 0;
  return {.axis = axis, .length = length, .whole = whole};
}

std::string Address(const Accessing& access) {
  return AddressOfAccess(access.code, access.graph, access.node, access.set, access.element);
}

// Emits body(length) under the condition that the vector is in range. If the end may split a vector, also emits an else
// branch with body(1) for each element in range.
void Guarded(const Accessing& access, const std::vector<int>& axes, const Vector& vector, const std::string& extra,
             const std::function<void(int64_t)>& body) {
  TileCode& code = access.code;
  const auto all_of = [&extra](std::string condition) {
    if (!extra.empty()) condition += Cat(condition.empty() ? "" : " && ", extra);
    return condition;
  };
  // If the end cannot split a vector, checking its first element is sufficient.
  const std::string condition = all_of(code.InRange(access.set, axes, vector.whole ? -1 : vector.axis, vector.length));
  if (condition.empty()) {
    body(vector.length);
    return;
  }
  code.out().Open("if (", condition, ")");
  body(vector.length);
  code.out().Close();
  if (vector.whole || vector.length == 1) return;
  const std::string i = TileCode::RegisterIndex(vector.axis);
  code.out().Open("else");
  code.out().Line("const int first = ", i, ";");
  code.out().Line("UNROLL");
  code.out().Open("for (int ", i, " = first; ", i, " < first + ", vector.length, "; ++", i, ")");
  code.out().Open("if (", all_of(code.InRange(access.set, axes)), ")");
  body(1);
  code.out().Close();
  code.out().Close();
  code.out().Close();
}

}  // namespace

TileValue EmitLoad(TileCode& code, const ir::Graph& graph, int node, int set, const ElementFunction& element) {
  const ir::Node& load = graph.nodes[static_cast<size_t>(node)];
  const int tensor = AccessedTensor(graph, load);
  const plan::AccessPlan& plan = code.plan().AccessPlanFor(graph.id, node);
  const Accessing access = {code, graph, load, tensor, plan, set, element};
  const DType dtype = access.host().dtype;
  TileValue value = code.Declare(text::RegisterOf(dtype), load.shape, set);
  const Vector vector = VectorFor(access, load.shape);
  // No eviction policy for a tensor that the kernel stores: another thread of the block may have just written the
  // element, and a cached line would be stale.
  const text::Eviction eviction = IsStored(code.ir(), tensor) ? text::Eviction::kNone : plan.eviction;
  const auto read = [&](int64_t count) {
    code.out().Line(code.dialect().LoadFunction(dtype, count, eviction), "(", Address(access), ", &",
                    code.Element(value), ");");
  };
  code.ForRegisters(
      set, load.shape,
      [&] {
        if (!code.InRange(set, load.shape).empty()) {
          const std::string zero = IsFloat(value.type) ? "0.0f" : "0";
          if (vector.length == 1) {
            code.out().Line(code.Element(value), " = ", zero, ";");
          } else {
            code.out().Line("UNROLL");
            code.out().Line("for (int j = 0; j < ", vector.length, "; ++j) (&", code.Element(value), ")[j] = ", zero,
                            ";");
          }
        }
        Guarded(access, load.shape, vector, "", read);
      },
      vector.axis, vector.length);
  return value;
}

namespace {

// Returns the value to store, without a conversion to the tensor's dtype: the store itself rounds to f16 and bf16.
const ir::Arg& StoredValue(const ir::Graph& graph, const ir::Node& store, DType dtype) {
  const ir::Arg& value = store.args[2];
  const auto* ref = std::get_if<ir::NodeRef>(&value.value);
  if (ref == nullptr || !(dtype == DType::kF16 || dtype == DType::kBF16)) return value;
  const ir::Node& node = graph.at(*ref);
  const bool rounds = node.op == ir::Op::kConvert && node.dtype == dtype;
  return rounds && std::holds_alternative<ir::NodeRef>(node.args[0].value) ? node.args[0] : value;
}

}  // namespace

void EmitStore(TileCode& code, const ir::Graph& graph, int node, const ElementFunction& element) {
  const ir::Node& store = graph.nodes[static_cast<size_t>(node)];
  const int tensor = AccessedTensor(graph, store);
  const plan::AccessPlan& plan = code.plan().AccessPlanFor(graph.id, node);
  const Accessing access = {code, graph, store, tensor, plan, 0, element};
  const DType dtype = access.host().dtype;
  const std::vector<int> axes = StoreAxes(graph, store);
  const Vector vector = VectorFor(access, axes);
  const text::RegisterType type = text::RegisterOf(dtype);
  const ir::Arg& value = StoredValue(graph, store, dtype);
  if (SuitsQuads(code, graph, node, vector.axis)) {
    EmitQuadStore(code, graph, node, vector.axis, element, [&] { return element(value, text::RegisterType::kFloat); });
    return;
  }
  const auto write = [&](int64_t count) {
    code.out().Line(TypeName(type), " moved[", count, "];");
    if (count == 1) {
      code.out().Line("moved[0] = ", element(value, type), ";");
    } else {
      const std::string i = TileCode::RegisterIndex(vector.axis);
      code.out().Line("const int from = ", i, ";");
      code.out().Line("UNROLL");
      code.out().Open("for (int j = 0; j < ", count, "; ++j)");
      code.out().Line("const int ", i, " = from + j;");
      code.out().Line("moved[j] = ", element(value, type), ";");
      code.out().Close();
    }
    code.out().Line(code.dialect().StoreFunction(dtype, count, plan.eviction), "(", Address(access), ", moved);");
  };
  const std::string first_copy = code.FirstCopy(0, axes);
  code.out().Open("");
  code.ForRegisters(
      0, axes, [&] { Guarded(access, axes, vector, first_copy, write); }, vector.axis, vector.length);
  code.out().Close();
}

}  // namespace telemetry::worker::codegen::emit
