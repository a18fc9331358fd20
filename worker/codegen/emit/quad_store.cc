#include "worker/codegen/emit/quad_store.h"

#include <algorithm>

#include "worker/codegen/access.h"
#include "worker/codegen/emit/address.h"

namespace telemetry::worker::codegen::emit {
namespace {

using device::DType;
using record::Cat;

constexpr int64_t kLength = 8;  // 16-bit elements that one instruction stores

DType StoredType(const TileCode& code, const ir::Graph& graph, int node) {
  const ir::Node& store = graph.nodes[static_cast<size_t>(node)];
  return code.ir().tensors[static_cast<size_t>(AccessedTensor(graph, store))].dtype;
}

// Adds the helper void(int thread, const float* own, int* whole) and returns its name. `own` holds two columns of each
// of four tiles. `whole` receives the eight columns of the tile with the thread's number in its quad. All threads of
// the warp must call the helper.
std::string ExchangeFunction(text::DialectText& dialect, DType dtype) {
  std::string name = Cat("exchange_in_quad_", ShortName(dtype));
  const std::string pack = dialect.PackFunction(dtype);
  dialect.AddFunction("swap_in_quad", R"(FN void swap_in_quad(int thread, int mask, int* a, int* b) {
  const bool upper = (thread & mask) != 0;
  const int got = __shfl_xor_sync(0xffffffffu, upper ? *a : *b, mask);
  if (upper) *a = got; else *b = got;
}
)");
  dialect.AddFunction(
      name, Cat("FN void ", name, "(int thread, const float* own, int* whole) {\n",
                "  UNROLL\n  for (int j = 0; j < 4; ++j) whole[j] = ", pack, "(own[2 * j], own[2 * j + 1]);\n",
                "  swap_in_quad(thread, 1, whole, whole + 1);\n"
                "  swap_in_quad(thread, 1, whole + 2, whole + 3);\n"
                "  swap_in_quad(thread, 2, whole, whole + 2);\n"
                "  swap_in_quad(thread, 2, whole + 1, whole + 3);\n}\n"));
  return name;
}

}  // namespace

bool SuitsQuads(const TileCode& code, const ir::Graph& graph, int node, int axis) {
  const std::vector<int>& columns = code.mma().columns;
  if (std::find(columns.begin(), columns.end(), axis) == columns.end()) return false;
  const DType dtype = StoredType(code, graph, node);
  if (dtype != DType::kF16 && dtype != DType::kBF16) return false;
  const ir::Size& extent = code.ir().axes[static_cast<size_t>(axis)].extent;
  if (!extent.is_static || extent.value % kLength != 0) return false;
  const int64_t widest = code.plan().AccessPlanFor(graph.id, node).vector_width;
  return code.set(0).of(axis).Registers() >= kLength &&
         AlignedVector(code.ir(), graph, graph.nodes[static_cast<size_t>(node)], axis, widest, code.plan().blocks) ==
             kLength;
}

void EmitQuadStore(TileCode& code, const ir::Graph& graph, int node, int axis, const ElementFunction& element,
                   const std::function<std::string()>& value) {
  const ir::Node& store = graph.nodes[static_cast<size_t>(node)];
  const std::vector<int> axes = StoreAxes(graph, store);
  const text::Eviction eviction = code.plan().AccessPlanFor(graph.id, node).eviction;
  text::CodeWriter& out = code.out();
  const std::string i = TileCode::RegisterIndex(axis);
  const std::string offset = Cat("offset", code.set(0).name, "_", axis);
  const auto body = [&] {
    out.Line("float own[", kLength, "];");
    out.Line("int whole[", kLength / 2, "];");
    out.Line("const int from = ", i, ", quad_offset = ", offset, ";");
    out.Line("UNROLL");
    out.Open("for (int j = 0; j < ", kLength, "; ++j)");
    out.Line("const int ", i, " = from + j;");
    out.Line("own[j] = ", value(), ";");
    out.Close();
    out.Line(ExchangeFunction(code.dialect(), StoredType(code, graph, node)), "(thread, own, whole);");
    // From here on the thread's position is the first column of its tile.
    out.Open("");
    out.Line("const int ", i, " = from + thread % 4 * 2;");
    out.Line("const int ", offset, " = quad_offset - thread % 4 * 2;");
    std::string condition = code.InRange(0, axes);
    const std::string first_copy = code.FirstCopy(0, axes);
    if (!first_copy.empty()) condition += Cat(condition.empty() ? "" : " && ", first_copy);
    if (!condition.empty()) out.Open("if (", condition, ")");
    out.Line(code.dialect().StoreFunction(DType::kI32, kLength / 2, eviction), "((GLOBAL int*)(",
             AddressOfAccess(code, graph, store, 0, element), "), whole);");
    if (!condition.empty()) out.Close();
    out.Close();
  };
  code.ForRegisters(0, axes, body, axis, kLength);
}

}  // namespace telemetry::worker::codegen::emit
