#include "proto/access/request_id.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace telemetry::access {
namespace {

constexpr size_t kMostBytes = 64;

}  // namespace

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kMostBytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace telemetry::access
