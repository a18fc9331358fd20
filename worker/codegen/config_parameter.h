#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/record/json.h"

namespace telemetry::worker::codegen {

// One dimension of the search space: a key's value, or one element of it if the value is a list. block_sizes[1] is a
// parameter of its own.
struct ConfigParameter {
  enum class Kind { kPowerOfTwo, kInteger, kBoolean, kChoice, kPermutation };

  std::string key;  // "block_sizes"
  int index = -1;   // position in the key's list; -1 if the key holds a single value
  Kind kind = Kind::kInteger;
  int64_t low = 0;  // kPowerOfTwo, kInteger: the inclusive range. kPermutation: low == high == the number of items
  int64_t high = 0;
  bool optional = false;              // None is also allowed (reduction_loops: the axis is held at once)
  std::vector<record::Json> choices;  // kChoice: the allowed values, in order
  record::Json default_value;
  std::string constraint;  // a further constraint, as text for messages; empty if there is none
};

// Reports whether the parameter allows this value. Does not check ConfigParameter::constraint.
bool Allows(const ConfigParameter& parameter, const record::Json& value);

// Returns the allowed values as text: "a power of two from 1 to 1024, or None".
std::string AllowedText(const ConfigParameter& parameter);

}  // namespace telemetry::worker::codegen
