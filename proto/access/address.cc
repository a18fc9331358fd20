#include "proto/access/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace telemetry::access {
namespace {

bool IsLoopbackV4(const std::string& host) {
  constexpr uint32_t kLoopbackNet = 127;
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == kLoopbackNet;
}

bool IsSocket(std::string_view address) {
  return address.starts_with("unix:") || address.starts_with("unix-abstract:");
}

bool IsPort(std::string_view digits) {
  constexpr uint32_t kLargestPort = 65535;
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

// Returns the mistake in an address that is not HOST:PORT.
std::string Mistake(std::string_view address) {
  constexpr std::string_view kScheme = "://";
  if (address.find(kScheme) != std::string_view::npos) return "has a scheme, like a URL";
  if (IsHost(address)) return "has no port";
  const std::string host(address.substr(0, address.rfind(':')));
  if (!IsHost(host) && IsHost(absl::StrCat("[", host, "]"))) return "has an IPv6 address without brackets";
  return IsHost(host) ? "has no port from 1 to 65535" : "is not a host and port";
}

}  // namespace

bool IsHostPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  return colon != std::string_view::npos && IsHost(address.substr(0, colon)) && IsPort(address.substr(colon + 1));
}

absl::Status CheckAddress(std::string_view address) {
  const bool has_port_zero = address.find_first_not_of('0', address.rfind(':') + 1) == std::string_view::npos;
  if (IsSocket(address) || (IsHostPort(address) && !has_port_zero)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the collector's address '", std::string(address), "' ",
                                                 Mistake(address), ": give HOST:PORT, such as collector:4747"));
}

bool StaysOnThisMachine(std::string_view address) {
  if (IsSocket(address)) return true;
  const std::string host(address.substr(0, address.rfind(':')));
  return host == "localhost" || host == "[::1]" || IsLoopbackV4(host);
}

}  // namespace telemetry::access
