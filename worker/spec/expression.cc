#include "worker/spec/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/arithmetic.h"
#include "worker/spec/expression_lexer.h"
#include "worker/spec/expression_parser.h"
#include "worker/spec/expression_tree.h"
#include "worker/spec/whole_numbers.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;
using Result = absl::StatusOr<Value>;

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(record::AbslView(what)); }

// One evaluation of a tree.
class Evaluator {
 public:
  Evaluator(const Expression::Tree& tree, absl::Span<const Value> values, Evaluation* evaluation)
      : tree_(tree), values_(values), evaluation_(*evaluation), locals_(static_cast<size_t>(tree.locals)) {}

  Result Evaluate(int index) {
    const ExpressionNode& node = tree_.nodes[static_cast<size_t>(index)];
    if (!evaluation_.Spend(1)) return At(node, OutOfBudget());
    if (node.op == Op::kConstant) return node.value;
    if (node.op == Op::kVariable) return Variable(node.index);
    Result result = Apply(node);
    return result.ok() ? result : At(node, result.status());
  }

 private:
  // Adds the column, unless an operand has added its own.
  absl::Status At(const ExpressionNode& node, const absl::Status& status) {
    if (located_) return status;
    located_ = true;
    return ErrorAt(node.position, tree_.text, std::string(status.message()));
  }

  static absl::Status OutOfBudget() { return Wrong("the expression takes more operations than its limit"); }

  Value Variable(int index) const {
    const size_t i = static_cast<size_t>(index);
    return i < values_.size() ? values_[i] : locals_[i - values_.size()];
  }

  Result Operand(const ExpressionNode& node, size_t i) { return Evaluate(node.operands[i]); }

  Result Apply(const ExpressionNode& node) {
    switch (node.op) {
      case Op::kAnd:
      case Op::kOr:
        return Logic(node);
      case Op::kNot: {
        ASSIGN_OR_RETURN(const Value value, Operand(node, 0));
        return Value::Bool(!value.Truth());
      }
      case Op::kNegate:
      case Op::kPlus:
      case Op::kInvert: {
        ASSIGN_OR_RETURN(const Value value, Operand(node, 0));
        return Calculate(node.op, value);
      }
      case Op::kConditional: {
        ASSIGN_OR_RETURN(const Value condition, Operand(node, 0));
        return Operand(node, condition.Truth() ? 1 : 2);
      }
      case Op::kList:
        return List(node);
      case Op::kComprehension:
        return Comprehension(node);
      case Op::kCall:
        return Call(node);
      default:
        return Binary(node);
    }
  }

  // Returns the operand that decides, as Python does.
  Result Logic(const ExpressionNode& node) {
    Value value;
    for (const int operand : node.operands) {
      ASSIGN_OR_RETURN(value, Evaluate(operand));
      if (value.Truth() == (node.op == Op::kOr)) return value;
    }
    return value;
  }

  Result Binary(const ExpressionNode& node) {
    ASSIGN_OR_RETURN(const Value a, Operand(node, 0));
    ASSIGN_OR_RETURN(const Value b, Operand(node, 1));
    if (node.op == Op::kSubscript) return Subscript(a, b);
    if (node.op == Op::kIn || node.op == Op::kNotIn) return In(a, b, node.op == Op::kIn);
    // Comparing lists costs their length.
    if (a.is_list() && !evaluation_.Spend(static_cast<int64_t>(a.list().size()))) return OutOfBudget();
    if (node.op < Op::kEqual) return Calculate(node.op, a, b);
    ASSIGN_OR_RETURN(const bool holds, Compare(node.op, a, b));
    return Value::Bool(holds);
  }

  Result In(const Value& item, const Value& list, bool wanted) {
    if (item.is_text() && list.is_text()) {
      return Value::Bool((list.text().find(item.text()) != std::string::npos) == wanted);
    }
    if (!list.is_list()) return Wrong(Cat("`in` needs a list, not ", KindName(list.kind())));
    if (!evaluation_.Spend(static_cast<int64_t>(list.list().size()))) return OutOfBudget();
    const bool is_in =
        std::any_of(list.list().begin(), list.list().end(), [&](const Value& other) { return item.Equals(other); });
    return Value::Bool(is_in == wanted);
  }

  static Result Subscript(const Value& list, const Value& index) {
    if (!list.is_list()) return Wrong(Cat("[] needs a list, not ", KindName(list.kind())));
    if (!index.is_whole()) return Wrong(Cat("an index is an integer, not ", KindName(index.kind())));
    const int64_t size = static_cast<int64_t>(list.list().size());
    const int64_t i = index.integer() < 0 ? index.integer() + size : index.integer();
    if (i < 0 || i >= size) return Wrong(Cat("index ", index.integer(), " of a list with ", size, " items"));
    return list.list()[static_cast<size_t>(i)];
  }

  Result List(const ExpressionNode& node) {
    ValueList list;
    list.reserve(node.operands.size());
    for (const int operand : node.operands) {
      ASSIGN_OR_RETURN(const Value value, Evaluate(operand));
      list.push_back(value);
    }
    return evaluation_.arena().AddList(std::move(list));
  }

  Result Comprehension(const ExpressionNode& node) {
    ASSIGN_OR_RETURN(const Value from, Operand(node, 1));
    if (!from.is_list()) return Wrong(Cat("`for` needs a list, not ", KindName(from.kind())));
    ValueList list;
    for (const Value& item : from.list()) {
      locals_[static_cast<size_t>(node.index) - values_.size()] = item;
      if (node.operands[2] >= 0) {
        ASSIGN_OR_RETURN(const Value condition, Operand(node, 2));
        if (!condition.Truth()) continue;
      }
      ASSIGN_OR_RETURN(const Value value, Operand(node, 0));
      list.push_back(value);
    }
    return evaluation_.arena().AddList(std::move(list));
  }

  Result Call(const ExpressionNode& node) {
    absl::InlinedVector<Value, 4> arguments;
    for (const int operand : node.operands) {
      ASSIGN_OR_RETURN(const Value value, Evaluate(operand));
      arguments.push_back(value);
    }
    const Callee callee = static_cast<Callee>(node.index);
    switch (callee) {
      case Callee::kMax:
      case Callee::kMin:
        return Extreme(callee, arguments);
      case Callee::kRange:
        return Range(arguments);
      case Callee::kPow:
        return Calculate(Op::kPower, arguments[0], arguments[1]);
      case Callee::kLen:
      case Callee::kList:
      case Callee::kSum:
        return OfList(callee, arguments[0]);
      case Callee::kStr:
        return evaluation_.arena().AddText(arguments[0].is_text() ? arguments[0].text() : arguments[0].ToString());
      default:
        return OfNumber(callee, arguments[0]);
    }
  }

  Result Extreme(Callee callee, absl::Span<const Value> arguments) {
    const bool is_list = arguments.size() == 1 && arguments[0].is_list();
    const absl::Span<const Value> items = is_list ? absl::MakeConstSpan(arguments[0].list()) : arguments;
    if (items.empty()) return Wrong("the list is empty");
    if (!evaluation_.Spend(static_cast<int64_t>(items.size()))) return OutOfBudget();
    Value best = items[0];
    for (const Value& item : items.subspan(1)) {
      ASSIGN_OR_RETURN(const bool is_better, Compare(callee == Callee::kMax ? Op::kGreater : Op::kLess, item, best));
      if (is_better) best = item;
    }
    return best;
  }

  Result Range(absl::Span<const Value> arguments) {
    std::array<int64_t, 3> bounds = {0, 0, 1};
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].is_whole()) return Wrong("range() needs integers");
      bounds[arguments.size() == 1 ? 1 : i] = arguments[i].integer();
    }
    const auto [begin, end, step] = bounds;
    if (step == 0) return Wrong("the step of range() is 0");
    ValueList list;
    int64_t value = begin;
    while (step > 0 ? value < end : value > end) {
      if (!evaluation_.Spend(1)) return OutOfBudget();
      list.push_back(Value::Integer(value));
      if (__builtin_add_overflow(value, step, &value)) break;
    }
    return evaluation_.arena().AddList(std::move(list));
  }

  Result OfList(Callee callee, const Value& value) {
    if (callee == Callee::kLen && value.is_text()) return Value::Integer(static_cast<int64_t>(value.text().size()));
    if (!value.is_list()) return Wrong(Cat("the function needs a list, not ", KindName(value.kind())));
    if (callee == Callee::kLen) return Value::Integer(static_cast<int64_t>(value.list().size()));
    if (callee == Callee::kList) return value;
    if (!evaluation_.Spend(static_cast<int64_t>(value.list().size()))) return OutOfBudget();
    Value sum = Value::Integer(0);
    for (const Value& item : value.list()) {
      ASSIGN_OR_RETURN(sum, Calculate(Op::kAdd, sum, item));
    }
    return sum;
  }

  static Result OfNumber(Callee callee, const Value& value) {
    if (value.is_text() && (callee == Callee::kInt || callee == Callee::kFloat)) {
      ASSIGN_OR_RETURN(const Value number, ParseNumber(value.text()));
      return OfNumber(callee, number);
    }
    if (!value.is_number()) return Wrong(Cat("the function needs a number, not ", KindName(value.kind())));
    const double real = value.real();
    switch (callee) {
      case Callee::kAbs:
        if (value.is_whole()) return value.integer() < 0 ? Calculate(Op::kNegate, value) : Calculate(Op::kPlus, value);
        return Value::Real(std::fabs(real));
      case Callee::kFloat:
        return Value::Real(real);
      case Callee::kLog2:
        if (!(real > 0)) return Wrong("log2() of a number that is not positive");
        return Value::Real(std::log2(real));
      case Callee::kSqrt:
        if (!(real >= 0)) return Wrong("sqrt() of a negative number");
        return Value::Real(std::sqrt(real));
      default:
        break;
    }
    if (value.is_whole()) return Value::Integer(value.integer());
    switch (callee) {
      case Callee::kCeil:
        return ToInteger(std::ceil(real));
      case Callee::kFloor:
        return ToInteger(std::floor(real));
      case Callee::kRound:
        return ToInteger(std::nearbyint(real));  // to even, as Python
      default:
        return ToInteger(std::trunc(real));
    }
  }

  const Expression::Tree& tree_;
  const absl::Span<const Value> values_;
  Evaluation& evaluation_;
  absl::InlinedVector<Value, 4> locals_;
  bool located_ = false;
};

std::shared_ptr<const Expression::Tree> TreeOfOne() {
  static const std::shared_ptr<const Expression::Tree> tree = *ParseExpression("1", {});
  return tree;
}

}  // namespace

Expression::Expression() : tree_(TreeOfOne()) {}

absl::StatusOr<Expression> Expression::Compile(std::string_view text, absl::Span<const std::string> names) {
  ASSIGN_OR_RETURN(std::shared_ptr<const Tree> tree, ParseExpression(text, names));
  return Expression(std::move(tree));
}

absl::StatusOr<Value> Expression::Evaluate(absl::Span<const Value> values, Evaluation* evaluation) const {
  Value whole;
  if (tree_->is_whole && EvaluateWhole(*tree_, values, evaluation, &whole)) return whole;
  return Evaluator(*tree_, values, evaluation).Evaluate(tree_->root);
}

const std::string& Expression::text() const { return tree_->text; }

const std::vector<int>& Expression::variables() const { return tree_->variables; }

}  // namespace telemetry::worker::spec
