#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/record/strings.h"

namespace telemetry::record {

// Returns the number and its noun: "1 row", "2 rows", "0 entries". `plural` is required for an irregular plural.
inline std::string Counted(uint64_t count, std::string_view noun, std::string_view plural = "") {
  if (count == 1) return Cat("1 ", noun);
  if (!plural.empty()) return Cat(count, " ", plural);
  return TakeSuffix("y", &noun) ? Cat(count, " ", noun, "ies") : Cat(count, " ", noun, "s");
}

}  // namespace telemetry::record
