#include "worker/codegen/reduction.h"

#include <algorithm>
#include <bit>

namespace telemetry::worker::codegen {
namespace {

using ir::Op;
using record::Cat;

constexpr int64_t kMostScratchBytes = 16 << 10;
constexpr int64_t kMostReads = 16;  // of shared memory, by a thread in one step

// A run of neighbouring bits of the thread's index.
struct Bits {
  int64_t lowest = 1;  // as a value
  int64_t count = 1;   // of the run's values
};

std::vector<Bits> RunsOf(int64_t mask, int64_t most) {
  std::vector<Bits> runs;
  for (int64_t bit = 1; bit <= mask; bit *= 2) {
    if ((mask & bit) == 0) continue;
    const bool extends = !runs.empty() && runs.back().lowest * runs.back().count == bit && runs.back().count < most;
    if (extends) {
      runs.back().count *= 2;
    } else {
      runs.push_back({.lowest = bit, .count = 2});
    }
  }
  return runs;
}

// How two partial results become one. A result is one variable, or for kArgMax two: value and position.
class Combiner {
 public:
  Combiner(TileCode& code, Op op, bool is_float) : code_(code), op_(op), is_float_(is_float) {}

  bool has_position() const { return op_ == Op::kArgMax; }

  // to = combine(to, from)
  void Combine(const std::string& to, const std::string& to_position, const std::string& from,
               const std::string& from_position) const {
    CodeWriter& out = code_.out();
    if (!has_position()) {
      out.Line(to, " = ", Expression(to, from), ";");
      return;
    }
    out.Open("if (", Better(), "(", from, ", ", from_position, ", ", to, ", ", to_position, "))");
    out.Line(to, " = ", from, ";");
    out.Line(to_position, " = ", from_position, ";");
    out.Close();
  }

 private:
  std::string Expression(const std::string& x, const std::string& y) const {
    switch (op_) {
      case Op::kAMax:
      case Op::kAMin:
        return Cat(code_.dialect().MaximumFunction(is_float_, op_ == Op::kAMin), "(", x, ", ", y, ")");
      case Op::kProd:
        return is_float_ ? Cat(x, " * ", y) : Cat("(int)((u32)", x, " * (u32)", y, ")");
      default:
        return is_float_ ? Cat(x, " + ", y) : Cat("(int)((u32)", x, " + (u32)", y, ")");
    }
  }

  // Of two, the larger; a NaN is the largest; of equals, the first.
  std::string Better() const {
    std::string name = is_float_ ? "comes_before_f" : "comes_before_i";
    const std::string_view type = is_float_ ? "float" : "int";
    code_.dialect().AddFunction(name, Cat("FN int ", name, "(", type, " x, int x_at, ", type, " y, int y_at) {\n",
                                          "  const int x_nan = x != x, y_nan = y != y;\n",
                                          "  if (x_nan || y_nan) return x_nan && (!y_nan || x_at < y_at);\n",
                                          "  return x > y || (x == y && x_at < y_at);\n}\n"));
    return name;
  }

  TileCode& code_;
  Op op_;
  bool is_float_;
};

class Reduction {
 public:
  Reduction(TileCode& code, const ir::Node& node, const TileValue& value)
      : code_(code), node_(node), value_(value), combiner_(code, node.op, value.is_float) {
    std::vector<int> shape = value.axes;
    shape.erase(std::remove(shape.begin(), shape.end(), node.axis), shape.end());
    result_ = code.Declare(value.is_float, shape, value.set);
    if (combiner_.has_position()) position_ = code.Declare(false, shape, value.set);
  }

  TileValue Emit() {
    OwnRegisters();
    int64_t bits = layout().ThreadBits();
    if (code_.dialect().is_cuda()) {
      for (int64_t bit = 1; bit < 32; bit *= 2) {
        if ((bits & bit) != 0) Shuffle(bit);
      }
      bits &= ~int64_t{31};
    }
    for (const Bits& run : RunsOf(bits, code_.dialect().is_cuda() ? 32 : kMostReads)) ThroughShared(run);
    return combiner_.has_position() ? position_ : result_;
  }

 private:
  const AxisLayout& layout() const { return code_.set(value_.set).of(node_.axis); }
  std::string Own() const { return code_.Element(result_); }
  std::string OwnPosition() const { return combiner_.has_position() ? code_.Element(position_) : ""; }

  void OwnRegisters() {
    CodeWriter& out = code_.out();
    const int axis = node_.axis;
    code_.ForRegisters(value_.set, result_.axes, [&] {
      const std::string i = TileCode::RegisterIndex(axis);
      out.Line(Own(), " = ", code_.Element(value_, axis, "0"), ";");
      if (combiner_.has_position()) {
        out.Open("");
        out.Line("const int ", i, " = 0;");
        out.Line(OwnPosition(), " = (int)(", code_.Position(value_.set, axis), ");");
        out.Close();
      }
      if (layout().Registers() == 1) return;
      out.Line("UNROLL");
      out.Open("for (int ", i, " = 1; ", i, " < ", layout().Registers(), "; ++", i, ")");
      const std::string at = Cat("(int)(", code_.Position(value_.set, axis), ")");
      combiner_.Combine(Own(), OwnPosition(), code_.Element(value_), at);
      out.Close();
    });
  }

  void Shuffle(int64_t bit) {
    CodeWriter& out = code_.out();
    code_.ForRegisters(value_.set, result_.axes, [&] {
      out.Open("");
      out.Line("const ", value_.is_float ? "float" : "int", " other = __shfl_xor_sync(0xffffffffu, ", Own(), ", ", bit,
               ");");
      if (combiner_.has_position()) {
        out.Line("const int other_at = __shfl_xor_sync(0xffffffffu, ", OwnPosition(), ", ", bit, ");");
      }
      combiner_.Combine(Own(), OwnPosition(), "other", "other_at");
      out.Close();
    });
  }

  // Every thread writes its partial results and reads those of all threads of its run, in the same order. As many
  // registers at a time as scratch has room for.
  void ThroughShared(const Bits& run) {
    CodeWriter& out = code_.out();
    const int64_t threads = code_.plan().threads;
    const int64_t words = combiner_.has_position() ? 2 : 1;
    const int64_t registers = code_.set(result_.set).Registers(result_.axes);
    const int64_t at_once = std::min(registers, std::max<int64_t>(1, kMostScratchBytes / (4 * words * threads)));
    code_.NeedScratch(at_once * words * threads * 4);
    const std::string type = value_.is_float ? "float" : "int";
    const auto array = [](const TileValue& v) { return v.axes.empty() ? Cat("(&", v.name, ")") : v.name; };

    out.Line("UNROLL");
    out.Open("for (int first = 0; first < ", registers, "; first += ", at_once, ")");
    out.Line("LOCAL ", type, "* partial = (LOCAL ", type, "*)scratch;");
    if (words == 2) out.Line("LOCAL int* partial_at = (LOCAL int*)scratch + ", at_once * threads, ";");
    out.Line("BARRIER();");
    out.Line("UNROLL");
    out.Open("for (int r = 0; r < ", at_once, "; ++r)");
    out.Line("partial[r * ", threads, " + thread] = ", array(result_), "[first + r];");
    if (words == 2) out.Line("partial_at[r * ", threads, " + thread] = ", array(position_), "[first + r];");
    out.Close();
    out.Line("BARRIER();");
    out.Line("UNROLL");
    out.Open("for (int r = 0; r < ", at_once, "; ++r)");
    out.Line("const int mine = r * ", threads, " + (thread & ~", run.lowest * (run.count - 1), ");");
    out.Line(type, " sum = partial[mine];");
    if (words == 2) out.Line("int sum_at = partial_at[mine];");
    out.Line("UNROLL");
    out.Open("for (int j = 1; j < ", run.count, "; ++j)");
    const std::string other = Cat("[mine + j * ", run.lowest, "]");
    combiner_.Combine("sum", "sum_at", "partial" + other, "partial_at" + other);
    out.Close();
    out.Line(array(result_), "[first + r] = sum;");
    if (words == 2) out.Line(array(position_), "[first + r] = sum_at;");
    out.Close();
    out.Close();
  }

  TileCode& code_;
  const ir::Node& node_;
  const TileValue& value_;
  Combiner combiner_;
  TileValue result_;
  TileValue position_;
};

}  // namespace

TileValue EmitReduction(TileCode& code, const ir::Node& node, const TileValue& value) {
  return Reduction(code, node, value).Emit();
}

}  // namespace telemetry::worker::codegen
