#include "worker/spec/expression_parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/expression_lexer.h"
#include "worker/spec/whole_numbers.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

struct BinaryOperator {
  std::string_view text;
  Op op;
  int precedence;
};

// The operators between comparisons and unary operators, all left-associative.
constexpr std::array<BinaryOperator, 10> kBinaryOperators = {{{"|", Op::kBitOr, 1},
                                                              {"^", Op::kBitXor, 2},
                                                              {"&", Op::kBitAnd, 3},
                                                              {"<<", Op::kShiftLeft, 4},
                                                              {">>", Op::kShiftRight, 4},
                                                              {"+", Op::kAdd, 5},
                                                              {"-", Op::kSubtract, 5},
                                                              {"*", Op::kMultiply, 6},
                                                              {"/", Op::kDivide, 6},
                                                              {"%", Op::kModulo, 6}}};
constexpr BinaryOperator kFloorDivision = {"//", Op::kFloorDivide, 6};

constexpr std::array<std::pair<std::string_view, Op>, 7> kComparisons = {{{"==", Op::kEqual},
                                                                          {"!=", Op::kUnequal},
                                                                          {"<", Op::kLess},
                                                                          {"<=", Op::kLessOrEqual},
                                                                          {">", Op::kGreater},
                                                                          {">=", Op::kGreaterOrEqual},
                                                                          {"in", Op::kIn}}};

// A function, and how many arguments it takes.
struct Function {
  std::string_view name;
  Callee callee;
  size_t least;
  size_t most;
};
constexpr size_t kAnyNumber = 1 << 20;
constexpr std::array<Function, 16> kFunctions = {{{"abs", Callee::kAbs, 1, 1},
                                                  {"ceil", Callee::kCeil, 1, 1},
                                                  {"float", Callee::kFloat, 1, 1},
                                                  {"floor", Callee::kFloor, 1, 1},
                                                  {"int", Callee::kInt, 1, 1},
                                                  {"len", Callee::kLen, 1, 1},
                                                  {"list", Callee::kList, 1, 1},
                                                  {"log2", Callee::kLog2, 1, 1},
                                                  {"max", Callee::kMax, 1, kAnyNumber},
                                                  {"min", Callee::kMin, 1, kAnyNumber},
                                                  {"pow", Callee::kPow, 2, 2},
                                                  {"range", Callee::kRange, 1, 3},
                                                  {"round", Callee::kRound, 1, 1},
                                                  {"sqrt", Callee::kSqrt, 1, 1},
                                                  {"str", Callee::kStr, 1, 1},
                                                  {"sum", Callee::kSum, 1, 1}}};

std::string FunctionNames() {
  return absl::StrJoin(kFunctions, ", ",
                       [](std::string* out, const Function& function) { out->append(function.name); });
}

// A recursive descent parser with one method per level of precedence.
class Parser {
 public:
  Parser(std::string_view text, absl::Span<const std::string> names)
      : text_(text), names_(names), tree_(std::make_shared<Expression::Tree>()) {
    tree_->text = std::string(text);
  }

  absl::StatusOr<std::shared_ptr<const Expression::Tree>> Run() {
    if (text_.size() > ExpressionLimits::kBytes) {
      return absl::InvalidArgumentError(
          Cat("the expression has ", text_.size(), " bytes; the limit is ", ExpressionLimits::kBytes));
    }
    ASSIGN_OR_RETURN(tokens_, Tokenize(text_));
    ASSIGN_OR_RETURN(tree_->root, Conditional());
    if (Peek().kind != Token::Kind::kEnd) return Unexpected("an operator or the end");
    std::sort(tree_->variables.begin(), tree_->variables.end());
    tree_->variables.erase(std::unique(tree_->variables.begin(), tree_->variables.end()), tree_->variables.end());
    tree_->is_whole = HasOnlyWholeOperations(*tree_);
    return std::shared_ptr<const Expression::Tree>(std::move(tree_));
  }

 private:
  using Parsed = absl::StatusOr<int>;

  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool Take(std::string_view op) {
    if (!Peek().Is(op)) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(std::string_view op) { return Take(op) ? absl::OkStatus() : Unexpected(Cat("'", op, "'")); }
  absl::Status Unexpected(std::string_view expected) const {
    const Token& token = Peek();
    const std::string found = token.kind == Token::Kind::kEnd ? "the end" : Cat("'", token.text, "'");
    return Error(token.position, Cat("expected ", expected, ", found ", found));
  }
  absl::Status Error(uint32_t position, std::string_view what) const { return ErrorAt(position, text_, what); }

  // Adds a node, unless the tree gets too deep.
  Parsed Add(ExpressionNode node) {
    int depth = 1;
    for (const int operand : node.operands) {
      if (operand >= 0) depth = std::max(depth, depths_[static_cast<size_t>(operand)] + 1);
    }
    if (depth > ExpressionLimits::kDepth) return TooDeep(node.position);
    depths_.push_back(depth);
    tree_->nodes.push_back(std::move(node));
    return static_cast<int>(tree_->nodes.size()) - 1;
  }
  Parsed Add(Op op, uint32_t position, std::vector<int> operands, int index = 0) {
    return Add({.op = op, .position = position, .index = index, .operands = std::move(operands)});
  }
  Parsed AddConstant(uint32_t position, Value value) {
    return Add({.op = Op::kConstant, .position = position, .value = value});
  }
  absl::Status TooDeep(uint32_t position) const {
    return Error(position, Cat("nested deeper than ", ExpressionLimits::kDepth));
  }

  // a if c else b, or c ? a : b
  Parsed Conditional() {
    if (++nesting_ > ExpressionLimits::kDepth) return TooDeep(Peek().position);
    ASSIGN_OR_RETURN(int first, Disjunction());
    const uint32_t position = Peek().position;
    if (Take("if")) {
      ASSIGN_OR_RETURN(const int condition, Disjunction());
      RETURN_IF_ERROR(Expect("else"));
      ASSIGN_OR_RETURN(const int other, Conditional());
      ASSIGN_OR_RETURN(first, Add(Op::kConditional, position, {condition, first, other}));
    } else if (Take("?")) {
      ASSIGN_OR_RETURN(const int value, Conditional());
      RETURN_IF_ERROR(Expect(":"));
      ASSIGN_OR_RETURN(const int other, Conditional());
      ASSIGN_OR_RETURN(first, Add(Op::kConditional, position, {first, value, other}));
    }
    --nesting_;
    return first;
  }

  Parsed Disjunction() { return Sequence("or", Op::kOr, &Parser::Conjunction); }
  Parsed Conjunction() { return Sequence("and", Op::kAnd, &Parser::Negation); }

  Parsed Sequence(std::string_view word, Op op, Parsed (Parser::*operand)()) {
    ASSIGN_OR_RETURN(const int first, (this->*operand)());
    if (!Peek().Is(word)) return first;
    const uint32_t position = Peek().position;
    std::vector<int> operands = {first};
    while (Take(word)) {
      ASSIGN_OR_RETURN(const int next, (this->*operand)());
      operands.push_back(next);
    }
    return Add(op, position, std::move(operands));
  }

  Parsed Negation() {
    const uint32_t position = Peek().position;
    if (!Peek().Is("not") || IsOfC()) return Comparison();
    ++at_;
    if (++nesting_ > ExpressionLimits::kDepth) return TooDeep(position);
    ASSIGN_OR_RETURN(const int operand, Negation());
    --nesting_;
    return Add(Op::kNot, position, {operand});
  }

  // A chain a < b < c is the conjunction of its comparisons.
  Parsed Comparison() {
    ASSIGN_OR_RETURN(int left, Binary(1));
    std::vector<int> links;
    const uint32_t first = Peek().position;
    while (true) {
      const uint32_t position = Peek().position;
      const std::optional<Op> op = TakeComparison();
      if (!op) break;
      ASSIGN_OR_RETURN(const int right, Binary(1));
      ASSIGN_OR_RETURN(const int link, Add(*op, position, {left, right}));
      links.push_back(link);
      left = right;
    }
    if (links.empty()) return left;
    if (links.size() == 1) return links.front();
    return Add(Op::kAnd, first, std::move(links));
  }

  std::optional<Op> TakeComparison() {
    for (const auto& [text, op] : kComparisons) {
      if (Take(text)) return op;
    }
    if (!Peek().Is("not") || !Peek(1).Is("in")) return std::nullopt;
    at_ += 2;
    return Op::kNotIn;
  }

  Parsed Binary(int precedence) {
    ASSIGN_OR_RETURN(int left, Unary());
    while (true) {
      const BinaryOperator* op = FindBinary();
      if (op == nullptr || op->precedence < precedence) return left;
      const uint32_t position = Peek().position;
      ++at_;
      ASSIGN_OR_RETURN(const int right, Binary(op->precedence + 1));
      ASSIGN_OR_RETURN(left, Add(op->op, position, {left, right}));
    }
  }

  const BinaryOperator* FindBinary() const {
    if (Peek().Is(kFloorDivision.text)) return &kFloorDivision;
    for (const BinaryOperator& op : kBinaryOperators) {
      if (Peek().Is(op.text)) return &op;
    }
    return nullptr;
  }

  Parsed Unary() {
    const uint32_t position = Peek().position;
    const Op op = Peek().Is("-") ? Op::kNegate : Peek().Is("+") ? Op::kPlus : Op::kInvert;
    if (Peek().Is("not") && IsOfC()) return UnaryNot();
    if (!Take("-") && !Take("+") && !Take("~")) return Power();
    if (++nesting_ > ExpressionLimits::kDepth) return TooDeep(position);
    ASSIGN_OR_RETURN(const int operand, Unary());
    --nesting_;
    return Add(op, position, {operand});
  }

  // Returns true if the token `not` is written `!`, which binds tighter than Python's word: !a == b is (!a) == b.
  bool IsOfC() const { return text_[Peek().position] == '!'; }

  Parsed UnaryNot() {
    const uint32_t position = Peek().position;
    if (++nesting_ > ExpressionLimits::kDepth) return TooDeep(position);
    ++at_;
    ASSIGN_OR_RETURN(const int operand, Unary());
    --nesting_;
    return Add(Op::kNot, position, {operand});
  }

  // The exponent binds to the right and may have a sign: 2 ** -1 ** 2.
  Parsed Power() {
    ASSIGN_OR_RETURN(const int base, Postfix());
    const uint32_t position = Peek().position;
    if (!Take("**")) return base;
    if (++nesting_ > ExpressionLimits::kDepth) return TooDeep(position);
    ASSIGN_OR_RETURN(const int exponent, Unary());
    --nesting_;
    return Add(Op::kPower, position, {base, exponent});
  }

  Parsed Postfix() {
    ASSIGN_OR_RETURN(int value, Primary());
    while (true) {
      const uint32_t position = Peek().position;
      if (!Take("[")) return value;
      ASSIGN_OR_RETURN(const int index, Conditional());
      RETURN_IF_ERROR(Expect("]"));
      ASSIGN_OR_RETURN(value, Add(Op::kSubscript, position, {value, index}));
    }
  }

  Parsed Primary() {
    const Token token = Peek();
    switch (token.kind) {
      case Token::Kind::kNumber:
        ++at_;
        return Number(token);
      case Token::Kind::kText:
        ++at_;
        return AddConstant(token.position, tree_->constants.AddText(token.text));
      case Token::Kind::kName:
        ++at_;
        return Peek().Is("(") ? Call(token) : Name(token);
      default:
        break;
    }
    if (Take("(")) return Brackets(token.position, ")");
    if (Take("[")) return Brackets(token.position, "]");
    return Unexpected("a value");
  }

  Parsed Number(const Token& token) {
    if (token.text.starts_with("0x") || token.text.starts_with("0X")) {
      int64_t value = 0;
      if (!absl::SimpleHexAtoi(token.text, &value)) return Error(token.position, "not a hexadecimal number of 64 bits");
      return AddConstant(token.position, Value::Integer(value));
    }
    // SimpleAtod accepts names such as "nan"; a token begins with a digit or a point, so none gets here.
    const absl::StatusOr<Value> value = ParseNumber(token.text);
    if (!value.ok()) return Error(token.position, std::string(value.status().message()));
    return AddConstant(token.position, *value);
  }

  Parsed Name(const Token& token) {
    if (token.text == "True" || token.text == "true") return AddConstant(token.position, Value::Bool(true));
    if (token.text == "False" || token.text == "false") return AddConstant(token.position, Value::Bool(false));
    for (auto local = scopes_.rbegin(); local != scopes_.rend(); ++local) {
      if (local->first == token.text) return Add(Op::kVariable, token.position, {}, local->second);
    }
    const auto name = std::find(names_.begin(), names_.end(), token.text);
    if (name == names_.end()) {
      return Error(token.position, Cat("unknown name '", token.text, "'; known are ",
                                       names_.empty() ? "none" : absl::StrJoin(names_, ", ")));
    }
    const int index = static_cast<int>(name - names_.begin());
    tree_->variables.push_back(index);
    return Add(Op::kVariable, token.position, {}, index);
  }

  Parsed Call(const Token& token) {
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                       [&](const Function& known) { return known.name == token.text; });
    if (function == kFunctions.end()) {
      return Error(token.position, Cat("unknown function '", token.text, "'; known are ", FunctionNames()));
    }
    RETURN_IF_ERROR(Expect("("));
    std::vector<int> arguments;
    if (!Take(")")) {
      ASSIGN_OR_RETURN(Content content, Items(")"));
      arguments = std::move(content.items);
    }
    if (arguments.size() < function->least || arguments.size() > function->most) {
      return Error(token.position, Cat(token.text, "() does not take ", arguments.size(), " arguments"));
    }
    return Add(Op::kCall, token.position, std::move(arguments), static_cast<int>(function->callee));
  }

  // The content of a pair of brackets.
  struct Content {
    std::vector<int> items;
    bool has_comma = false;
    bool is_comprehension = false;  // of the only item
  };

  // Parses items up to the closing bracket, which is consumed. A trailing comma is allowed.
  absl::StatusOr<Content> Items(std::string_view close) {
    Content content;
    while (true) {
      content.is_comprehension = content.items.empty() && FindFor() != 0;
      ASSIGN_OR_RETURN(const int item, ItemOrComprehension());
      content.items.push_back(item);
      if (Take(close)) return content;
      RETURN_IF_ERROR(Expect(","));
      content.has_comma = true;
      if (Take(close)) return content;
    }
  }

  Parsed Brackets(uint32_t position, std::string_view close) {
    if (Take(close)) return Add(Op::kList, position, {});
    ASSIGN_OR_RETURN(Content content, Items(close));
    const bool is_alone = content.items.size() == 1 && !content.has_comma;
    if (is_alone && (close == ")" || content.is_comprehension)) return content.items[0];
    return Add(Op::kList, position, std::move(content.items));
  }

  // item for name in list if condition. The item is parsed before its variable is known, so the parser looks for the
  // word `for` first.
  Parsed ItemOrComprehension() {
    const size_t word = FindFor();
    if (word == 0) return Conditional();
    if (++nesting_ > ExpressionLimits::kDepth) return TooDeep(Peek().position);
    const uint32_t position = Peek().position;
    const size_t item_at = at_;
    at_ = word + 1;
    const Token name = Peek();
    if (name.kind != Token::Kind::kName) return Unexpected("a name");
    ++at_;
    RETURN_IF_ERROR(Expect("in"));
    ASSIGN_OR_RETURN(const int list, Disjunction());
    const int local = static_cast<int>(names_.size()) + tree_->locals++;
    scopes_.emplace_back(name.text, local);
    int condition = -1;
    if (Take("if")) {
      ASSIGN_OR_RETURN(condition, Disjunction());
    }
    const size_t end = at_;
    at_ = item_at;
    ASSIGN_OR_RETURN(const int item, Conditional());
    if (at_ != word) return Unexpected("'for'");
    at_ = end;
    scopes_.pop_back();
    --nesting_;
    return Add(Op::kComprehension, position, {item, list, condition}, local);
  }

  // Returns the index of the token `for` of the item that begins here, or 0 if the item is not a comprehension.
  size_t FindFor() const {
    int depth = 0;
    for (size_t i = at_; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.Is("(") || token.Is("[")) ++depth;
      if ((token.Is(")") || token.Is("]")) && --depth < 0) return 0;
      if (depth == 0 && token.Is(",")) return 0;
      if (depth == 0 && token.Is("for")) return i;
    }
    return 0;
  }

  const std::string_view text_;
  const absl::Span<const std::string> names_;
  std::shared_ptr<Expression::Tree> tree_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::vector<int> depths_;                          // of each node's tree
  std::vector<std::pair<std::string, int>> scopes_;  // the variables of the comprehensions around this token
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Expression::Tree>> ParseExpression(std::string_view text,
                                                                        absl::Span<const std::string> names) {
  return Parser(text, names).Run();
}

}  // namespace telemetry::worker::spec
