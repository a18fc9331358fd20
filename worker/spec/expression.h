#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/spec/value.h"

namespace telemetry::worker::spec {

// The operations that evaluations may still take, and the memory of their intermediate lists. A list costs one
// operation an item, so the budget bounds the memory, too. Not thread-safe.
class Evaluation {
 public:
  static constexpr int64_t kDefaultOperations = 1'000'000;

  explicit Evaluation(int64_t operations = kDefaultOperations) : operations_(operations) {}

  // Returns false if the budget is used up.
  bool Spend(int64_t operations) { return (operations_ -= operations) >= 0; }
  int64_t operations_left() const { return operations_; }
  // The owner of lists in results; clear it when the results are no longer needed.
  ValueArena& arena() { return arena_; }

 private:
  int64_t operations_;
  ValueArena arena_;
};

// The limits of an expression's text.
struct ExpressionLimits {
  static constexpr size_t kBytes = size_t{16} * 1024;
  static constexpr int kDepth = 100;  // of nested brackets, calls and unary operators, and of the parsed tree
};

// A compiled expression of a specification. The language is a part of Python's: integers of 64 bits, floating point
// numbers, True, False, strings, lists and tuples; arithmetic (+ - * / // % **), bits (& | ^ ~ << >>), comparisons
// (also chained: 1 <= x < 8), `in`, `not in`, `and`, `or`, `not`, `a if c else b`; list[index];
// `[expression for name in list if condition]`; the functions abs, ceil, float, floor, int, len, list, log2, max, min,
// pow, range, round, sqrt, str and sum. The spellings of C are accepted as well: && || ! true false c ? a : b.
// Operators always have their meaning in Python: 7 / 2 is 3.5, 7 // 2 is 3, -7 // 2 is -4, and & binds tighter than ==.
// There are no attributes, no imports and no calls of other names.
//
// Immutable and safe to share between threads.
class Expression {
 public:
  // The expression "1".
  Expression();

  // Compiles a text. `names` are the variables that the text may use. INVALID_ARGUMENT: not an expression, an unknown
  // name, or a limit is exceeded; the message has the column, which counts bytes from 1.
  static absl::StatusOr<Expression> Compile(std::string_view text, absl::Span<const std::string> names);

  // Evaluates the expression. `values` are those of `names`. INVALID_ARGUMENT: an operator does not fit its operands, a
  // division by zero, an integer beyond 64 bits, or the budget is used up; the message has the column.
  absl::StatusOr<Value> Evaluate(absl::Span<const Value> values, Evaluation* evaluation) const;

  const std::string& text() const;
  // The indexes of the variables that the expression uses, in ascending order.
  const std::vector<int>& variables() const;

  struct Tree;  // expression_tree.h

 private:
  explicit Expression(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  std::shared_ptr<const Tree> tree_;
};

}  // namespace telemetry::worker::spec
