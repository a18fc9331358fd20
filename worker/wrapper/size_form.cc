#include "worker/wrapper/size_form.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace telemetry::worker::wrapper {
namespace {

// Returns the coefficient times the product of a value of each factor.
template <typename ValueOf>
std::optional<int64_t> TermAt(const std::vector<int>& factors, int64_t coefficient, const ValueOf& value_of) {
  int64_t product = coefficient;
  for (const int factor : factors) {
    if (__builtin_mul_overflow(product, value_of(static_cast<size_t>(factor)), &product)) return std::nullopt;
  }
  return product;
}

// Returns the sum of all terms. `value_of(symbol, is_positive)` is the value of a symbol in a term of this sign.
template <typename ValueOf>
std::optional<int64_t> SumOf(const std::map<std::vector<int>, int64_t>& terms, const ValueOf& value_of) {
  int64_t sum = 0;
  for (const auto& [factors, coefficient] : terms) {
    const bool is_positive = coefficient > 0;
    const std::optional<int64_t> term =
        TermAt(factors, coefficient, [&](size_t symbol) { return value_of(symbol, is_positive); });
    if (!term.has_value() || __builtin_add_overflow(sum, *term, &sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace

SizeForm::SizeForm(int64_t constant) { Add({}, constant); }

SizeForm SizeForm::Symbol(int symbol) {
  SizeForm form;
  form.Add({symbol}, 1);
  return form;
}

SizeForm SizeForm::Unknown() {
  SizeForm form;
  form.is_known_ = false;
  return form;
}

void SizeForm::Add(const std::vector<int>& factors, int64_t coefficient) {
  int64_t& sum = terms_[factors];
  if (__builtin_add_overflow(sum, coefficient, &sum) || terms_.size() > kMostTerms) is_known_ = false;
  if (sum == 0) terms_.erase(factors);
}

SizeForm operator+(const SizeForm& a, const SizeForm& b) {
  SizeForm sum = a;
  sum.is_known_ = a.is_known_ && b.is_known_;
  for (const auto& [factors, coefficient] : b.terms_) sum.Add(factors, coefficient);
  return sum;
}

SizeForm operator-(const SizeForm& a, const SizeForm& b) { return a + SizeForm(-1) * b; }

SizeForm operator*(const SizeForm& a, const SizeForm& b) {
  SizeForm product;
  product.is_known_ = a.is_known_ && b.is_known_;
  for (const auto& [a_factors, a_coefficient] : a.terms_) {
    for (const auto& [b_factors, b_coefficient] : b.terms_) {
      std::vector<int> factors = a_factors;
      factors.insert(factors.end(), b_factors.begin(), b_factors.end());
      std::sort(factors.begin(), factors.end());
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(a_coefficient, b_coefficient, &coefficient)) product.is_known_ = false;
      product.Add(factors, coefficient);
      if (!product.is_known_) return SizeForm::Unknown();
    }
  }
  return product;
}

std::optional<int64_t> SizeForm::At(absl::Span<const PlanSymbol> symbols) const {
  if (!is_known_) return std::nullopt;
  return SumOf(terms_, [&](size_t symbol, bool) { return symbols[symbol].value; });
}

SizeForm SizeForm::AboveMinimum(absl::Span<const PlanSymbol> symbols) const {
  SizeForm above;
  for (const auto& [factors, coefficient] : terms_) {
    SizeForm term(coefficient);
    for (const int factor : factors)
      term = term * (SizeForm(symbols[static_cast<size_t>(factor)].min) + Symbol(factor));
    above = above + term;
  }
  return above;
}

std::optional<int64_t> SizeForm::LowerBound(absl::Span<const PlanSymbol> symbols) const {
  if (!is_known_) return std::nullopt;
  // In `above` a symbol is its distance from the minimum: for n and m from 1, n * m - m has no negative term there.
  const SizeForm above = AboveMinimum(symbols);
  if (!above.is_known_) return std::nullopt;
  return SumOf(above.terms_, [&](size_t symbol, bool is_positive) {
    return is_positive ? 0 : symbols[symbol].max - symbols[symbol].min;
  });
}

std::optional<int64_t> SizeForm::UpperBound(absl::Span<const PlanSymbol> symbols) const {
  if (!is_known_) return std::nullopt;
  return SumOf(
      terms_, [&](size_t symbol, bool is_positive) { return is_positive ? symbols[symbol].max : symbols[symbol].min; });
}

std::string SizeForm::ToString(absl::Span<const PlanSymbol> symbols) const {
  if (!is_known_) return "?";
  std::string text;
  // Products come before the constant, which has no symbols.
  for (auto term = terms_.rbegin(); term != terms_.rend(); ++term) {
    const auto& [factors, coefficient] = *term;
    std::string product;
    for (const int factor : factors) {
      absl::StrAppend(&product, product.empty() ? "" : " * ", symbols[static_cast<size_t>(factor)].name);
    }
    const bool is_negative = coefficient < 0;
    const std::string number = absl::StrCat(coefficient).substr(is_negative ? 1 : 0);
    absl::StrAppend(&text, text.empty() ? (is_negative ? "-" : "") : is_negative ? " - " : " + ");
    if (product.empty() || number != "1") absl::StrAppend(&text, number, product.empty() ? "" : " * ");
    text += product;
  }
  return text.empty() ? "0" : text;
}

bool IsAtMost(const SizeForm& a, const SizeForm& b, absl::Span<const PlanSymbol> symbols) {
  return (b - a).LowerBound(symbols).value_or(-1) >= 0;
}

}  // namespace telemetry::worker::wrapper
