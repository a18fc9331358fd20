#include "worker/wrapper/file/plan_symbols.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/expression_parser.h"
#include "worker/spec/expression_tree.h"

namespace telemetry::worker::wrapper::file {

using record::Cat;
using spec::JsonMember;

namespace {

// Returns true for a name that an expression can use.
bool IsName(std::string_view text) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && text.size() <= 100 && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), is_part);
}

struct Bounds {
  int64_t value = 0;  // the default
  int64_t min = 1;
  int64_t max = PlanSymbols::kLargest;
};

absl::StatusOr<Bounds> ReadBounds(const JsonMember& symbol) {
  RETURN_IF_ERROR(symbol.CheckObject());
  Bounds bounds;
  for (const auto& [name, value] : symbol.json().members) {
    if (name != "default" && name != "min" && name != "max") {
      return symbol.Error("unknown member; known are default, min, max");
    }
  }
  ASSIGN_OR_RETURN(bounds.value, symbol["default"].Integer());
  if (symbol["min"].exists()) {
    ASSIGN_OR_RETURN(bounds.min, symbol["min"].Integer());
  }
  if (symbol["max"].exists()) {
    ASSIGN_OR_RETURN(bounds.max, symbol["max"].Integer());
  }
  const bool is_ordered = 0 <= bounds.min && bounds.min <= bounds.value && bounds.value <= bounds.max &&
                          bounds.max <= PlanSymbols::kLargest;
  if (!is_ordered) return symbol.Error("expected 0 <= min <= default <= max <= 2^40");
  return bounds;
}

// Returns the form of a node of an expression; unknown if it is no polynomial.
SizeForm FormOf(const spec::Expression::Tree& tree, int index, size_t names) {
  const spec::ExpressionNode& node = tree.nodes[static_cast<size_t>(index)];
  const auto operand = [&](size_t i) { return FormOf(tree, node.operands[i], names); };
  switch (node.op) {
    case spec::Op::kConstant:
      return node.value.kind() == spec::Value::Kind::kInteger ? SizeForm(node.value.integer()) : SizeForm::Unknown();
    case spec::Op::kVariable:
      return static_cast<size_t>(node.index) < names ? SizeForm::Symbol(node.index) : SizeForm::Unknown();
    case spec::Op::kAdd:
      return operand(0) + operand(1);
    case spec::Op::kSubtract:
      return operand(0) - operand(1);
    case spec::Op::kMultiply:
      return operand(0) * operand(1);
    case spec::Op::kNegate:
      return SizeForm(0) - operand(0);
    case spec::Op::kPlus:
      return operand(0);
    default:
      return SizeForm::Unknown();
  }
}

}  // namespace

absl::StatusOr<PlanSymbols> PlanSymbols::Read(const JsonMember& symbols, const SymbolValues& given) {
  PlanSymbols read;
  if (symbols.exists()) {
    RETURN_IF_ERROR(symbols.CheckObject());
    if (symbols.json().members.size() > kMost) return symbols.Error(Cat("at most ", kMost, " symbols are allowed"));
    for (const auto& [name, json] : symbols.json().members) {
      if (!IsName(name)) {
        return symbols.Error("the name of a symbol has 1 to 100 letters, digits and '_', and begins with no digit");
      }
      if (std::find(read.names_.begin(), read.names_.end(), name) != read.names_.end()) {
        return symbols.Error(Cat("two symbols '", name, "'"));
      }
      ASSIGN_OR_RETURN(const Bounds bounds, ReadBounds(JsonMember(&json, Cat(symbols.path(), ".", name))));
      const auto chosen = given.find(name);
      const int64_t value = chosen == given.end() ? bounds.value : chosen->second;
      if (value < bounds.min || value > bounds.max) {
        return absl::InvalidArgumentError(
            Cat("symbol '", name, "' is ", value, ", but must be from ", bounds.min, " to ", bounds.max));
      }
      read.names_.push_back(name);
      read.values_.push_back(spec::Value::Integer(value));
      read.symbols_.push_back({.name = name, .min = bounds.min, .max = bounds.max, .value = value});
    }
  }
  for (const auto& [name, value] : given) {
    if (std::find(read.names_.begin(), read.names_.end(), name) != read.names_.end()) continue;
    return absl::InvalidArgumentError(Cat("no symbol '", name.substr(0, 100), "'; the plan has ",
                                          read.names_.empty() ? "none" : absl::StrJoin(read.names_, ", ")));
  }
  return read;
}

absl::StatusOr<spec::Value> PlanSymbols::EvaluateText(const JsonMember& member, spec::Evaluation* evaluation) const {
  ASSIGN_OR_RETURN(const std::string text, member.Text());
  if (text.size() > kExpressionBytes) {
    return member.Error(Cat("an expression has at most ", kExpressionBytes, " bytes"));
  }
  const absl::StatusOr<spec::Expression> expression = spec::Expression::Compile(text, names_);
  if (!expression.ok()) return member.At(expression.status());
  const absl::StatusOr<spec::Value> result = expression->Evaluate(values_, evaluation);
  return result.ok() ? result : member.At(result.status());
}

absl::StatusOr<int64_t> PlanSymbols::Evaluate(const JsonMember& member, spec::Evaluation* evaluation) const {
  int64_t value = 0;
  if (member.is_text()) {
    ASSIGN_OR_RETURN(const spec::Value result, EvaluateText(member, evaluation));
    if (result.kind() != spec::Value::Kind::kInteger) return member.Error("the expression gives no integer");
    value = result.integer();
  } else {
    ASSIGN_OR_RETURN(value, member.Integer());
  }
  if (value < 0) return member.Error("must not be negative");
  return value;
}

bool PlanSymbols::Contains(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

absl::StatusOr<bool> PlanSymbols::EvaluateCondition(const JsonMember& member, spec::Evaluation* evaluation) const {
  ASSIGN_OR_RETURN(const spec::Value result, EvaluateText(member, evaluation));
  if (!result.is_whole()) return member.Error("the expression gives neither True, False nor an integer");
  return result.integer() != 0;
}

absl::StatusOr<SymbolicSize> PlanSymbols::EvaluateForm(const JsonMember& member, spec::Evaluation* evaluation) {
  SymbolicSize size;
  ASSIGN_OR_RETURN(size.value, Evaluate(member, evaluation));
  size.form = SizeForm(size.value);
  if (!member.is_text()) return size;
  const std::string& text = member.json().text;
  ASSIGN_OR_RETURN(const auto tree, spec::ParseExpression(text, names_));
  size.form = FormOf(*tree, tree->root, names_.size());
  if (!size.form.is_known()) size.form = SizeForm::Symbol(SymbolOf(text, size.value));
  return size;
}

int PlanSymbols::SymbolOf(const std::string& text, int64_t value) {
  const std::string name = Cat("(", text, ")");
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].name == name) return static_cast<int>(i);
  }
  symbols_.push_back({.name = name, .min = 0, .max = kLargest, .value = value});
  return static_cast<int>(symbols_.size()) - 1;
}

}  // namespace telemetry::worker::wrapper::file
