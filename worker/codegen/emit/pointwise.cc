#include "worker/codegen/emit/pointwise.h"

#include <algorithm>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::emit {
namespace {

using device::DType;
using ir::Op;
using record::Cat;

std::string_view BinaryOperator(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kEq:
      return "==";
    case Op::kNe:
      return "!=";
    case Op::kLt:
      return "<";
    case Op::kLe:
      return "<=";
    case Op::kGt:
      return ">";
    case Op::kGe:
      return ">=";
    default:
      return "";
  }
}

std::string Convert(const ir::Node& node, const ElementFunction& element, const IsFloatArg& is_float,
                    text::DialectText* dialect) {
  const ir::Arg& arg = node.args[0];
  switch (*node.dtype) {
    case DType::kF32:
      return element(arg, true);
    case DType::kF16:
    case DType::kBF16:
      return Cat(dialect->RoundFunction(*node.dtype), "(", element(arg, true), ")");
    case DType::kI32:
      return element(arg, false);
    case DType::kBool:
      return Cat("(", element(arg, is_float(arg)), " != 0)");
  }
  return "";
}

// Returns integer arithmetic that wraps on overflow. It uses unsigned integers, because signed overflow is undefined
// in C.
std::string Wrapping(const std::string& x, std::string_view sign, const std::string& y) {
  return Cat("(int)((u32)", x, " ", sign, " (u32)", y, ")");
}

}  // namespace

absl::StatusOr<std::string> PointwiseExpression(const ir::Node& node, const ElementFunction& element,
                                                const IsFloatArg& is_float, text::DialectText* dialect) {
  const bool result_is_float = IsFloat(*node.dtype);
  const bool any_float = std::any_of(node.args.begin(), node.args.end(), is_float);
  const auto arg = [&](size_t i, bool as_float) { return element(node.args[i], as_float); };
  switch (node.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      if (!result_is_float) return Wrapping(arg(0, false), BinaryOperator(node.op), arg(1, false));
      return Cat(arg(0, true), " ", BinaryOperator(node.op), " ", arg(1, true));
    case Op::kDiv:
      return dialect->Divide(arg(0, true), arg(1, true));
    case Op::kMaximum:
    case Op::kMinimum:
      return Cat(dialect->MaximumFunction(result_is_float, node.op == Op::kMinimum), "(", arg(0, result_is_float), ", ",
                 arg(1, result_is_float), ")");
    case Op::kNeg:
      return result_is_float ? Cat("-", arg(0, true)) : Wrapping("0", "-", arg(0, false));
    case Op::kAbs: {
      if (result_is_float) return Cat(dialect->is_cuda() ? "fabsf(" : "fabs(", arg(0, true), ")");
      const std::string x = arg(0, false);
      return Cat("(", x, " < 0 ? ", Wrapping("0", "-", x), " : ", x, ")");
    }
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      return Cat("(", arg(0, any_float), " ", BinaryOperator(node.op), " ", arg(1, any_float), ")");
    case Op::kAnd:
      return Cat("(", arg(0, is_float(node.args[0])), " != 0 && ", arg(1, is_float(node.args[1])), " != 0)");
    case Op::kOr:
      return Cat("(", arg(0, is_float(node.args[0])), " != 0 || ", arg(1, is_float(node.args[1])), " != 0)");
    case Op::kNot:
      return Cat("(", arg(0, is_float(node.args[0])), " == 0)");
    case Op::kWhere:
      return Cat("(", arg(0, is_float(node.args[0])), " != 0 ? ", arg(1, result_is_float), " : ",
                 arg(2, result_is_float), ")");
    case Op::kConvert:
      return Convert(node, element, is_float, dialect);
    default:
      break;
  }
  const std::string math = dialect->Math(node.op, arg(0, true));
  if (math.empty()) return absl::UnimplementedError(Cat("no code for the operation ", ir::TargetName(node.op)));
  return math;
}

}  // namespace telemetry::worker::codegen::emit
