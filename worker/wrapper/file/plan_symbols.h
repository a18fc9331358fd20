#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/spec/expression.h"
#include "worker/spec/json_member.h"
#include "worker/wrapper/size_form.h"

namespace telemetry::worker::wrapper::file {

// Values of symbols by name.
using SymbolValues = std::map<std::string, int64_t, std::less<>>;

// A size of a plan file: its value, and its form for all values of the symbols.
struct SymbolicSize {
  int64_t value = 0;
  SizeForm form;
};

// The symbols of a plan file and their values. Sizes, strides and offsets of the file are expressions of them.
class PlanSymbols {
 public:
  static constexpr size_t kMost = 32;
  static constexpr int64_t kLargest = int64_t{1} << 40;
  static constexpr size_t kExpressionBytes = 200;

  // Reads the member "symbols", which may be absent. A symbol has its value of `given`, or else its default.
  // INVALID_ARGUMENT names the place: a symbol is not described as worker/wrapper/README.md says, a given value is not
  // between the minimum and the maximum of its symbol, or there is no symbol of its name.
  static absl::StatusOr<PlanSymbols> Read(const spec::JsonMember& symbols, const SymbolValues& given);

  // Returns the value of an integer or of a text with an expression (spec/expression.h). INVALID_ARGUMENT names the
  // place: it is neither, or the value is no integer or is negative.
  absl::StatusOr<int64_t> Evaluate(const spec::JsonMember& member, spec::Evaluation* evaluation) const;
  // Returns the value as Evaluate() does, and its form. An expression that is no polynomial is a symbol of its own,
  // from 0 to kLargest; equal texts are the same symbol.
  absl::StatusOr<SymbolicSize> EvaluateForm(const spec::JsonMember& member, spec::Evaluation* evaluation);

  // Returns true for the name of a symbol of the file.
  bool Contains(std::string_view name) const;
  // Returns the truth of a text with an expression: false for False and 0. INVALID_ARGUMENT names the place: it is no
  // expression, or its value is neither a truth value nor an integer.
  absl::StatusOr<bool> EvaluateCondition(const spec::JsonMember& member, spec::Evaluation* evaluation) const;

  // Returns the symbols of the forms so far: those of the file, then those that are expressions.
  const std::vector<PlanSymbol>& symbols() const { return symbols_; }

 private:
  absl::StatusOr<spec::Value> EvaluateText(const spec::JsonMember& member, spec::Evaluation* evaluation) const;
  // Returns the symbol that is an expression.
  int SymbolOf(const std::string& text, int64_t value);

  std::vector<std::string> names_;
  std::vector<spec::Value> values_;
  std::vector<PlanSymbol> symbols_;
};

}  // namespace telemetry::worker::wrapper::file
