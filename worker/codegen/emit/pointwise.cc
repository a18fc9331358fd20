#include "worker/codegen/emit/pointwise.h"

#include <optional>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::emit {
namespace {

using device::DType;
using ir::Op;
using record::Cat;
using text::RegisterType;

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

// Returns the expression of a conversion. `own` is the type of the argument.
std::string Convert(const ir::Node& node, const ElementFunction& element, RegisterType own,
                    text::DialectText* dialect) {
  const ir::Arg& arg = node.args[0];
  switch (*node.dtype) {
    case DType::kF16:
    case DType::kBF16:
      return Cat(dialect->RoundFunction(*node.dtype), "(", element(arg, RegisterType::kFloat), ")");
    case DType::kBool:
      return Cat("(", element(arg, own), " != 0)");
    default:
      return text::NarrowedText(*node.dtype, element(arg, text::RegisterOf(*node.dtype)));
  }
}

// Returns the type in which the arguments of a comparison are compared: float if one of them is.
RegisterType ComparedType(const ir::Node& node, const TypeOfArg& type_of) {
  RegisterType type = RegisterType::kInt;
  for (const ir::Arg& arg : node.args) {
    const std::optional<RegisterType> own = type_of(arg);
    if (own == RegisterType::kFloat) return *own;
    if (own.has_value()) type = *own;
  }
  return type;
}

}  // namespace

RegisterType TypeOfNumber(const ir::Arg& arg) {
  return std::holds_alternative<double>(arg.value) ? RegisterType::kFloat : RegisterType::kInt;
}

absl::StatusOr<std::string> PointwiseExpression(const ir::Node& node, const ElementFunction& element,
                                                const TypeOfArg& type_of, text::DialectText* dialect) {
  const DType dtype = *node.dtype;
  const RegisterType type = text::RegisterOf(dtype);
  const auto arg = [&](size_t i) { return element(node.args[i], type); };
  const auto own = [&](size_t i) { return element(node.args[i], type_of(node.args[i]).value_or(RegisterType::kInt)); };
  const auto arithmetic = [&](const std::string& x, const std::string& y) {
    return text::NarrowedText(dtype, text::ArithmeticText(type, x, BinaryOperator(node.op), y));
  };
  const auto negated = [&](const std::string& x) {
    return text::NarrowedText(dtype, text::ArithmeticText(type, text::LiteralText(type, int64_t{0}), "-", x));
  };
  switch (node.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      return arithmetic(arg(0), arg(1));
    case Op::kDiv:
      return dialect->Divide(arg(0), arg(1));
    case Op::kMaximum:
    case Op::kMinimum:
      return Cat(dialect->MaximumFunction(type, node.op == Op::kMinimum), "(", arg(0), ", ", arg(1), ")");
    case Op::kNeg:
      return IsFloat(type) ? Cat("-", arg(0)) : negated(arg(0));
    case Op::kAbs: {
      if (IsFloat(type)) return Cat(dialect->is_cuda() ? "fabsf(" : "fabs(", arg(0), ")");
      const std::string x = arg(0);
      return IsUnsigned(dtype) ? x : Cat("(", x, " < 0 ? ", negated(x), " : ", x, ")");
    }
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe: {
      const RegisterType compared = ComparedType(node, type_of);
      return Cat("(", element(node.args[0], compared), " ", BinaryOperator(node.op), " ",
                 element(node.args[1], compared), ")");
    }
    case Op::kAnd:
      return Cat("(", own(0), " != 0 && ", own(1), " != 0)");
    case Op::kOr:
      return Cat("(", own(0), " != 0 || ", own(1), " != 0)");
    case Op::kNot:
      return Cat("(", own(0), " == 0)");
    case Op::kWhere:
      return Cat("(", own(0), " != 0 ? ", arg(1), " : ", arg(2), ")");
    case Op::kConvert:
      return Convert(node, element, type_of(node.args[0]).value_or(RegisterType::kInt), dialect);
    default:
      break;
  }
  const std::string math = dialect->Math(node.op, arg(0));
  if (math.empty()) return absl::UnimplementedError(Cat("no code for the operation ", ir::TargetName(node.op)));
  return math;
}

}  // namespace telemetry::worker::codegen::emit
