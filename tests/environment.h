// Settings of a test run, read from environment variables. A value that cannot be used throws std::invalid_argument,
// which fails the test with its message: a test never runs with another value than the one that was asked for.
#pragma once

#include <cstdint>

namespace telemetry {

// Returns the whole number in the variable, or `otherwise` where the variable is unset. Throws where it is no whole
// number of at least `least`.
int64_t NumberFromEnvironment(const char* name, int64_t otherwise, int64_t least = 1);

// Returns TELEMETRY_FAULTS, the number of faults that a test makes.
int Faults(int otherwise = 50);

// Returns TELEMETRY_SEED, or a random number where it is unset, and prints it, so that a run can be repeated.
unsigned TestSeed();

}  // namespace telemetry
