#include <algorithm>

#include "worker/codegen/emit/dot.h"

namespace telemetry::worker::codegen::emit {
namespace {

using ir::Node;
using record::Cat;

// An operand in shared memory as float32, with the summed axis slowest, then the other axes.
struct Shared {
  std::string name;
  int axis = -1;                 // the summed axis
  std::vector<int> others;       // the other axes with more than one element
  std::vector<int64_t> strides;  // of `others`, in elements
  int64_t row = 1;               // elements from one position of the summed axis to the next
  int64_t elements = 0;
};

Shared SharedFor(const TileCode& code, const std::string& name, const TileValue& value, int axis) {
  Shared shared = {.name = name, .axis = axis};
  int64_t size = 1;
  for (auto other = value.axes.rbegin(); other != value.axes.rend(); ++other) {
    const int64_t span = code.plan().spans[static_cast<size_t>(*other)];
    if (*other == axis || span == 1) continue;
    shared.others.push_back(*other);
    shared.strides.push_back(size);
    size *= span;
  }
  // One element of padding avoids bank conflicts along both rows and columns.
  shared.row = size + 1;
  shared.elements = shared.row * code.plan().spans[static_cast<size_t>(axis)];
  return shared;
}

std::string At(const TileCode& code, const Shared& shared, int set, const std::string& depth) {
  std::string index = Cat(depth, " * ", shared.row);
  for (size_t i = 0; i < shared.others.size(); ++i) {
    index += Cat(" + (", code.LocalPosition(set, shared.others[i]), ")");
    if (shared.strides[i] != 1) index += Cat(" * ", shared.strides[i]);
  }
  return Cat(shared.name, "[", index, "]");
}

void Stage(TileCode& code, const Shared& shared, const TileValue& value) {
  code.ForRegisters(value.set, value.axes, [&] {
    const std::string depth = Cat("(", code.LocalPosition(value.set, shared.axis), ")");
    code.out().Line(At(code, shared, value.set, depth), " = ", code.ElementAs(value, text::RegisterType::kFloat), ";");
  });
}

// Emits the reads of an operand's row into registers, once for each step of the summed axis.
TileValue ReadRow(TileCode& code, const Shared& shared) {
  TileValue row = code.Declare(text::RegisterType::kFloat, shared.others, 0);
  code.ForRegisters(0, shared.others,
                    [&] { code.out().Line(code.Element(row), " = ", At(code, shared, 0, "depth"), ";"); });
  return row;
}

}  // namespace

void AddDotFma(TileCode& code, const Node& dot, const TileValue& a, const TileValue& b, const TileValue& result) {
  text::CodeWriter& out = code.out();
  const Shared shared_a = SharedFor(code, "a_shared", a, dot.axis);
  const Shared shared_b = SharedFor(code, "b_shared", b, dot.axis);
  code.NeedScratch(4 * (shared_a.elements + shared_b.elements));
  out.Open("");
  out.Line("LOCAL float* a_shared = (LOCAL float*)scratch;");
  out.Line("LOCAL float* b_shared = a_shared + ", shared_a.elements, ";");
  out.Line("BARRIER();");
  Stage(code, shared_a, a);
  Stage(code, shared_b, b);
  out.Line("BARRIER();");
  out.Line("_Pragma(\"unroll 1\")");
  out.Open("for (int depth = 0; depth < ", code.plan().spans[static_cast<size_t>(dot.axis)], "; ++depth)");
  const TileValue row_a = ReadRow(code, shared_a);
  const TileValue row_b = ReadRow(code, shared_b);
  code.ForRegisters(0, dot.shape, [&] {
    out.Line(code.Element(result), " += ", code.Element(row_a), " * ", code.Element(row_b), ";");
  });
  out.Close();
  out.Close();
}

}  // namespace telemetry::worker::codegen::emit
