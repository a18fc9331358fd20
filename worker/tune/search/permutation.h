#pragma once

#include <cstdint>
#include <vector>

namespace telemetry::worker::tune::search {

// Permutations of 0..length-1, numbered from 0 in lexicographic order.

// Returns length!. `length` is at most 20.
int64_t PermutationCount(int64_t length);
std::vector<int64_t> PermutationAt(int64_t ordinal, int64_t length);
int64_t OrdinalOfPermutation(const std::vector<int64_t>& permutation);

}  // namespace telemetry::worker::tune::search
