#include "worker/spec/expression_lexer.h"

#include <array>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {
namespace {

// Longer operators come before their prefixes.
constexpr std::array<std::string_view, 31> kOperators = {
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<",
    ">",  "!",  "&",  "|",  "^",  "~",  "(",  ")",  "[",  "]",  ",", "?", ":", ".", "="};
constexpr std::array<std::string_view, 8> kWords = {"and", "or", "not", "in", "if", "else", "for", "is"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (true) {
      while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
      ASSIGN_OR_RETURN(Token token, Next());
      tokens_.push_back(std::move(token));
      if (tokens_.back().kind == Token::Kind::kEnd) return std::move(tokens_);
    }
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Token Make(Token::Kind kind, std::string_view text) const {
    return {.kind = kind, .position = begin_, .text = std::string(text)};
  }
  std::string_view Taken() const { return text_.substr(begin_, at_ - begin_); }

  absl::StatusOr<Token> Next() {
    begin_ = static_cast<uint32_t>(at_);
    if (at_ == text_.size()) return Make(Token::Kind::kEnd, "");
    const char c = Peek();
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number();
    if (IsLetter(c)) return Word();
    if (c == '"' || c == '\'') return Text(c);
    return Operator();
  }

  Token Number() {
    const bool is_hex = Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
    while (at_ < text_.size()) {
      const char c = Peek();
      const bool is_sign = (c == '+' || c == '-') && !is_hex && at_ > begin_ && (text_[at_ - 1] | 0x20) == 'e';
      if (!IsDigit(c) && !IsLetter(c) && c != '.' && !is_sign) break;
      ++at_;
    }
    return Make(Token::Kind::kNumber, Taken());
  }

  Token Word() {
    while (IsLetter(Peek()) || IsDigit(Peek())) ++at_;
    for (const std::string_view word : kWords) {
      if (Taken() == word) return Make(Token::Kind::kOperator, word);
    }
    return Make(Token::Kind::kName, Taken());
  }

  absl::StatusOr<Token> Text(char quote) {
    std::string content;
    for (++at_; Peek() != quote; ++at_) {
      if (at_ >= text_.size()) return ErrorAt(begin_, text_, "the string has no closing quote");
      if (Peek() == '\\') ++at_;
      if (at_ < text_.size()) content += text_[at_];
    }
    ++at_;
    Token token = Make(Token::Kind::kText, "");
    token.text = std::move(content);
    return token;
  }

  absl::StatusOr<Token> Operator() {
    for (const std::string_view op : kOperators) {
      if (!text_.substr(at_).starts_with(op)) continue;
      at_ += op.size();
      if (op == "&&") return Make(Token::Kind::kOperator, "and");
      if (op == "||") return Make(Token::Kind::kOperator, "or");
      if (op == "!") return Make(Token::Kind::kOperator, "not");
      return Make(Token::Kind::kOperator, op);
    }
    return ErrorAt(begin_, text_, "this character is not part of the language");
  }

  const std::string_view text_;
  size_t at_ = 0;
  uint32_t begin_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Tokenize(std::string_view text) { return Lexer(text).Run(); }

absl::Status ErrorAt(uint32_t position, std::string_view text, std::string_view what) {
  constexpr size_t kShown = 60;
  // Shows the part of a long text in which the error is.
  const size_t begin = text.size() <= kShown || position < kShown / 2 ? 0 : position - kShown / 2;
  const std::string_view shown = text.substr(begin, kShown);
  return absl::InvalidArgumentError(record::Cat("column ", position + 1, " of '", begin > 0 ? "..." : "", shown,
                                                begin + kShown < text.size() ? "..." : "", "': ", what));
}

}  // namespace telemetry::worker::spec
