#include "worker/codegen/emit/combiner.h"

namespace telemetry::worker::codegen::emit {

using ir::Op;
using record::Cat;

void Combiner::Combine(const std::string& to, const std::string& to_position, const std::string& from,
                       const std::string& from_position) const {
  text::CodeWriter& out = code_.out();
  if (!has_position()) {
    out.Line(to, " = ", Expression(to, from), ";");
    return;
  }
  out.Open("if (", Better(), "(", from, ", ", from_position, ", ", to, ", ", to_position, "))");
  out.Line(to, " = ", from, ";");
  out.Line(to_position, " = ", from_position, ";");
  out.Close();
}

void Combiner::CombineLanes(const std::string& own, const std::string& own_position, int64_t bits) const {
  text::CodeWriter& out = code_.out();
  for (int64_t bit = 1; bit <= bits; bit *= 2) {
    if ((bits & bit) == 0) continue;
    out.Open("");
    out.Line("const ", TypeName(type_), " other = __shfl_xor_sync(0xffffffffu, ", own, ", ", bit, ");");
    if (has_position()) {
      out.Line("const int other_at = __shfl_xor_sync(0xffffffffu, ", own_position, ", ", bit, ");");
    }
    Combine(own, own_position, "other", "other_at");
    out.Close();
  }
}

std::string Combiner::Expression(const std::string& x, const std::string& y) const {
  switch (op_) {
    case Op::kAMax:
    case Op::kAMin:
      return Cat(code_.dialect().MaximumFunction(type_, op_ == Op::kAMin), "(", x, ", ", y, ")");
    case Op::kProd:
      return text::ArithmeticText(type_, x, "*", y);
    default:
      return text::ArithmeticText(type_, x, "+", y);
  }
}

std::string Combiner::Better() const {
  std::string name = Cat("comes_before_", TypeLetter(type_));
  const std::string_view type = TypeName(type_);
  code_.dialect().AddFunction(name, Cat("FN int ", name, "(", type, " x, int x_at, ", type, " y, int y_at) {\n",
                                        "  const int x_nan = x != x, y_nan = y != y;\n",
                                        "  if (x_nan || y_nan) return x_nan && (!y_nan || x_at < y_at);\n",
                                        "  return x > y || (x == y && x_at < y_at);\n}\n"));
  return name;
}

}  // namespace telemetry::worker::codegen::emit
