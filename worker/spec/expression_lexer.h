#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::worker::spec {

// A token of an expression.
struct Token {
  enum class Kind { kEnd, kNumber, kText, kName, kOperator };

  Kind kind = Kind::kEnd;
  uint32_t position = 0;  // byte offset
  // The characters of a number, name or operator; the content of a string, without escapes. C's && || ! are given as
  // the operators "and", "or" and "not", as are Python's words.
  std::string text;

  bool Is(std::string_view op) const { return kind == Kind::kOperator && text == op; }
};

// Splits a text into tokens, of which the last is kEnd. INVALID_ARGUMENT: a character, string or number that is not
// valid.
absl::StatusOr<std::vector<Token>> Tokenize(std::string_view text);

// Returns an INVALID_ARGUMENT with the column of the position and the text, which is shortened.
absl::Status ErrorAt(uint32_t position, std::string_view text, std::string_view what);

}  // namespace telemetry::worker::spec
