// Settings of a test run, read from environment variables. An invalid value throws std::invalid_argument, which fails
// the test with its message: a test never runs with a value other than the requested one.
#pragma once

#include <cstdint>

namespace telemetry {

// Returns the integer in the variable, or `otherwise` if the variable is unset. Throws if the value is not an integer
// of at least `least`.
int64_t NumberFromEnvironment(const char* name, int64_t otherwise, int64_t least = 1);

// Returns TELEMETRY_FAULTS, the number of faults that a test makes.
int Faults(int otherwise = 50);

// Returns TELEMETRY_SEED, or a random number if it is unset. Prints the value, so that a run can be repeated.
unsigned TestSeed();

}  // namespace telemetry
