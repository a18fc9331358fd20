#include "server/collector/listen_address.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace telemetry::collector {
namespace {

constexpr uint32_t kLargestPort = 65535;

bool IsPort(std::string_view digits) {
  uint32_t port = 0;
  return std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &port) && port <= kLargestPort;
}

bool IsHost(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.find_first_not_of("0123456789abcdefABCDEF:.%", 1) == host.size() - 1;
  }
  return !host.empty() && std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

bool IsListenAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  return colon != std::string_view::npos && IsHost(address.substr(0, colon)) && IsPort(address.substr(colon + 1));
}

}  // namespace telemetry::collector
