#include "worker/spec/whole_numbers.h"

#include <algorithm>

namespace telemetry::worker::spec {
namespace {

class WholeEvaluator {
 public:
  WholeEvaluator(const Expression::Tree& tree, absl::Span<const Value> values, int64_t limit)
      : tree_(tree), values_(values), limit_(limit) {}

  bool Evaluate(int index, Value* result) {
    const ExpressionNode& node = tree_.nodes[static_cast<size_t>(index)];
    if (++operations_ > limit_) return false;
    switch (node.op) {
      case Op::kConstant:
        *result = node.value;
        return true;
      case Op::kVariable:
        *result = values_[static_cast<size_t>(node.index)];
        return result->is_whole();
      case Op::kAnd:
      case Op::kOr:
        for (const int operand : node.operands) {
          if (!Evaluate(operand, result)) return false;
          if ((result->integer() != 0) == (node.op == Op::kOr)) return true;
        }
        return true;
      case Op::kNot:
        if (!Evaluate(node.operands[0], result)) return false;
        *result = Value::Bool(result->integer() == 0);
        return true;
      default:
        break;
    }
    Value a;
    Value b;
    return Evaluate(node.operands[0], &a) && Evaluate(node.operands[1], &b) &&
           Apply(node.op, a.integer(), b.integer(), result);
  }

  int64_t operations() const { return operations_; }

 private:
  static bool Apply(Op op, int64_t a, int64_t b, Value* result) {
    int64_t number = 0;
    switch (op) {
      case Op::kAdd:
        if (__builtin_add_overflow(a, b, &number)) return false;
        break;
      case Op::kSubtract:
        if (__builtin_sub_overflow(a, b, &number)) return false;
        break;
      case Op::kMultiply:
        if (__builtin_mul_overflow(a, b, &number)) return false;
        break;
      case Op::kFloorDivide:
      case Op::kModulo:
        if (a < 0 || b <= 0) return false;
        number = op == Op::kModulo ? a % b : a / b;
        break;
      default:
        *result = Value::Bool(Compares(op, a, b));
        return true;
    }
    *result = Value::Integer(number);
    return true;
  }

  static bool Compares(Op op, int64_t a, int64_t b) {
    switch (op) {
      case Op::kEqual:
        return a == b;
      case Op::kUnequal:
        return a != b;
      case Op::kLess:
        return a < b;
      case Op::kLessOrEqual:
        return a <= b;
      case Op::kGreater:
        return a > b;
      default:
        return a >= b;
    }
  }

  const Expression::Tree& tree_;
  const absl::Span<const Value> values_;
  const int64_t limit_;
  int64_t operations_ = 0;
};

bool IsWholeOperation(const ExpressionNode& node) {
  switch (node.op) {
    case Op::kConstant:
      return node.value.is_whole();
    case Op::kVariable:
    case Op::kAnd:
    case Op::kOr:
    case Op::kNot:
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kFloorDivide:
    case Op::kModulo:
    case Op::kEqual:
    case Op::kUnequal:
    case Op::kLess:
    case Op::kLessOrEqual:
    case Op::kGreater:
    case Op::kGreaterOrEqual:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool HasOnlyWholeOperations(const Expression::Tree& tree) {
  return std::all_of(tree.nodes.begin(), tree.nodes.end(), IsWholeOperation);
}

bool EvaluateWhole(const Expression::Tree& tree, absl::Span<const Value> values, Evaluation* evaluation,
                   Value* result) {
  WholeEvaluator evaluator(tree, values, evaluation->operations_left());
  const bool done = evaluator.Evaluate(tree.root, result);
  return evaluation->Spend(evaluator.operations()) && done;
}

}  // namespace telemetry::worker::spec
