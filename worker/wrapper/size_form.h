#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace telemetry::worker::wrapper {

// A size that differs between runs of a plan, with its bounds and its value in this plan.
struct PlanSymbol {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
  int64_t value = 0;
};

// A number for all values of the symbols of a plan: a polynomial with integer coefficients. Symbols are identified by
// their index in the plan, and are not negative. A form can be unknown; unknown forms are equal to nothing. The result
// of an operation is unknown if an operand is, if a coefficient exceeds 64 bits, or if there are more than kMostTerms.
class SizeForm {
 public:
  static constexpr size_t kMostTerms = 64;

  SizeForm() = default;        // 0
  SizeForm(int64_t constant);  // NOLINT(google-explicit-constructor)
  static SizeForm Symbol(int symbol);
  static SizeForm Unknown();

  bool is_known() const { return is_known_; }
  friend SizeForm operator+(const SizeForm& a, const SizeForm& b);
  friend SizeForm operator-(const SizeForm& a, const SizeForm& b);
  friend SizeForm operator*(const SizeForm& a, const SizeForm& b);
  friend bool operator==(const SizeForm& a, const SizeForm& b) {
    return a.is_known_ && b.is_known_ && a.terms_ == b.terms_;
  }

  // Returns the number for the values of the symbols; nullopt if it is unknown or exceeds 64 bits.
  std::optional<int64_t> At(absl::Span<const PlanSymbol> symbols) const;
  // Return bounds for all values within the bounds of the symbols, which need not be reached; nullopt if there is none
  // of 64 bits.
  std::optional<int64_t> LowerBound(absl::Span<const PlanSymbol> symbols) const;
  std::optional<int64_t> UpperBound(absl::Span<const PlanSymbol> symbols) const;

  // Returns a text such as "2 * queries * keys + 1", or "?".
  std::string ToString(absl::Span<const PlanSymbol> symbols) const;

 private:
  // Returns the form with each symbol replaced by the sum of its minimum and the symbol.
  SizeForm AboveMinimum(absl::Span<const PlanSymbol> symbols) const;
  // Adds `coefficient` times the product of the symbols.
  void Add(const std::vector<int>& factors, int64_t coefficient);

  bool is_known_ = true;
  std::map<std::vector<int>, int64_t> terms_;  // the coefficient by its symbols, in ascending order; never 0
};

// Returns true if `a` is certainly at most `b` for all values within the bounds of the symbols.
bool IsAtMost(const SizeForm& a, const SizeForm& b, absl::Span<const PlanSymbol> symbols);

}  // namespace telemetry::worker::wrapper
