#include "proto/record/numbers.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "absl/strings/charconv.h"
#include "proto/record/strings.h"

namespace telemetry::record {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The digits and the decimal exponent of to_chars' form "d.ddde-XX".
struct Scientific {
  std::string digits;
  int exponent = 0;
};

Scientific ShortestDigits(double magnitude) {
  char buffer[32];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  Scientific result;
  result.digits = text.substr(0, 1);
  if (e > 2) result.digits += text.substr(2, e - 2);
  const bool negative = text[e + 1] == '-';
  const int exponent = ParseWhole<int>(text.substr(e + 2)).value_or(0);
  result.exponent = negative ? -exponent : exponent;
  return result;
}

std::string WithExponent(const Scientific& number) {
  const int magnitude = std::abs(number.exponent);
  return Cat(number.digits.substr(0, 1), number.digits.size() > 1 ? "." : "", number.digits.substr(1),
             number.exponent < 0 ? "e-" : "e+", magnitude < 10 ? "0" : "", magnitude);
}

std::string WithPoint(const Scientific& number) {
  if (number.exponent < 0) return Cat("0.", std::string(-number.exponent - 1, '0'), number.digits);
  const size_t whole = static_cast<size_t>(number.exponent) + 1;
  if (number.digits.size() <= whole) {
    return Cat(number.digits, std::string(whole - number.digits.size(), '0'), ".0");
  }
  return Cat(number.digits.substr(0, whole), ".", number.digits.substr(whole));
}

}  // namespace

std::optional<double> ParseDecimal(std::string_view text) {
  const std::optional<double> value = ParseWhole<double>(text);
  if (!value.has_value() || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseInt64(std::string_view text) { return ParseWhole<int64_t>(text); }
std::optional<uint64_t> ParseUint64(std::string_view text) { return ParseWhole<uint64_t>(text); }

void AppendFixed(double value, int digits, std::string* out) {
  char buffer[352];  // 309 digits before the point, the sign, the point and `digits`
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits).ptr;
  out->append(buffer, static_cast<size_t>(end - buffer));
}

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  const std::string_view sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return Cat(sign, "inf");
  const Scientific number = ShortestDigits(std::fabs(value));
  const bool pointed = number.exponent >= -4 && number.exponent < 16;
  return Cat(sign, pointed ? WithPoint(number) : WithExponent(number));
}

std::string NormalNumber(std::string_view digits) {
  if (digits == "-0") return "0";
  if (digits.find_first_of(".eE") == std::string_view::npos) return std::string(digits);  // an integer, NaN, Infinity
  // absl::from_chars returns the largest value or 0 for a number out of range. std::from_chars does not report which.
  double value = 0;
  const auto error = absl::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
  const bool too_large = error == std::errc::result_out_of_range && std::fabs(value) > 1;
  if (too_large) return value < 0 ? "-Infinity" : "Infinity";
  return FloatRepr(value);
}

}  // namespace telemetry::record
