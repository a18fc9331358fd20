#include "proto/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace telemetry {
namespace {

size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t k = 0; k < b.size(); ++k) {
      const size_t changed = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({changed, row[k] + 1, row[k + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kShortestPart = 3;
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  std::string nearest;
  size_t best = word.size() / 3 + 2;  // a larger distance means another word
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(lower, absl::AsciiStrToLower(candidate));
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  if (!nearest.empty() || word.size() < kShortestPart) return nearest;
  const auto whole = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
    return absl::StrContains(absl::AsciiStrToLower(candidate), lower);
  });
  return whole == candidates.end() ? "" : *whole;
}

}  // namespace telemetry
