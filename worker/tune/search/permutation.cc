#include "worker/tune/search/permutation.h"

#include <algorithm>
#include <numeric>

namespace telemetry::worker::tune::search {

int64_t PermutationCount(int64_t length) {
  int64_t count = 1;
  for (int64_t i = 2; i <= length; ++i) count *= i;
  return count;
}

std::vector<int64_t> PermutationAt(int64_t ordinal, int64_t length) {
  std::vector<int64_t> left(static_cast<size_t>(length));
  std::iota(left.begin(), left.end(), int64_t{0});
  std::vector<int64_t> permutation;
  for (int64_t remaining = length; remaining > 0; --remaining) {
    const int64_t block = PermutationCount(remaining - 1);
    const auto next = left.begin() + ordinal / block;
    ordinal %= block;
    permutation.push_back(*next);
    left.erase(next);
  }
  return permutation;
}

int64_t OrdinalOfPermutation(const std::vector<int64_t>& permutation) {
  int64_t ordinal = 0;
  for (auto item = permutation.begin(); item != permutation.end(); ++item) {
    const auto smaller_behind =
        std::count_if(item + 1, permutation.end(), [&](int64_t other) { return other < *item; });
    ordinal += smaller_behind * PermutationCount(permutation.end() - item - 1);
  }
  return ordinal;
}

}  // namespace telemetry::worker::tune::search
