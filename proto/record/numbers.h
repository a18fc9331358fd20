#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telemetry::record {

// A number and nothing else; empty optional for anything else. The decimal must be finite.
std::optional<double> ParseDecimal(std::string_view text);
std::optional<int64_t> ParseInt64(std::string_view text);
std::optional<uint64_t> ParseUint64(std::string_view text);

// As Python's "%.<digits>f" prints it: correctly rounded. `value` is finite.
void AppendFixed(double value, int digits, std::string* out);

// As Python's repr prints a float: the shortest digits that give it back ("1e-05", "0.1", "1e+16"), nan, inf, -inf.
std::string FloatRepr(double value);

// The digits of a number as Python prints it again after reading them: "1E5" is "100000.0", "-0" is "0", an integer
// keeps all its digits, "1e999" is "Infinity". `digits` has the form of a JSON number, NaN or an infinity.
std::string NormalNumber(std::string_view digits);

}  // namespace telemetry::record
