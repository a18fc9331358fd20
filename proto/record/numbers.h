#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telemetry::record {

// Parse a text that consists of exactly one number, else return nullopt. The decimal must be finite.
std::optional<double> ParseDecimal(std::string_view text);
std::optional<int64_t> ParseInt64(std::string_view text);
std::optional<uint64_t> ParseUint64(std::string_view text);

// Appends the value as Python's "%.<digits>f" prints it, correctly rounded. `value` must be finite.
void AppendFixed(double value, int digits, std::string* out);

// Returns the value as Python's repr prints a float: the shortest digits that parse to the same value ("1e-05", "0.1",
// "1e+16"), nan, inf, -inf.
std::string FloatRepr(double value);

// Returns a number as Python prints it after parsing it: "1E5" becomes "100000.0", "-0" becomes "0", an integer keeps
// all its digits, "1e999" becomes "Infinity". `digits` must have the form of a JSON number, NaN or an infinity.
std::string NormalNumber(std::string_view digits);

}  // namespace telemetry::record
