#include "server/http/origin_check.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "proto/access/address.h"
#include "proto/record/strings.h"

namespace telemetry::http {
namespace {

// Returns the part before the port.
std::string HostName(std::string_view host) {
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return absl::AsciiStrToLower(record::AbslView(has_port ? host.substr(0, colon) : host));
}

bool IsIpAddress(const std::string& name) {
  std::array<unsigned char, 16> bytes;
  if (inet_pton(AF_INET, name.c_str(), bytes.data()) == 1) return true;
  if (name.size() < 2 || name.front() != '[' || name.back() != ']') return false;
  return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), bytes.data()) == 1;
}

}  // namespace

OriginCheck::OriginCheck(std::string_view listen, std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) absl::AsciiStrToLower(&name);
  names_.insert(names_.end(), {"localhost", "127.0.0.1", "[::1]", HostName(listen)});
  allows_addresses_ = !access::StaysOnThisMachine(listen);
}

absl::Status OriginCheck::CheckHost(std::string_view host) const {
  const std::string name = HostName(host);
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return absl::OkStatus();
  if (allows_addresses_ && IsIpAddress(name)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "this server has another name: use the address that it printed at its start, or add the name with --host-name");
}

absl::Status OriginCheck::CheckOrigin(std::string_view origin, std::string_view host, bool is_secure) {
  if (origin.empty()) return absl::OkStatus();
  const auto is_own = [&](std::string_view scheme) {
    return absl::EqualsIgnoreCase(record::AbslView(origin), record::Cat(scheme, host));
  };
  if (is_own("https://") || (!is_secure && is_own("http://"))) return absl::OkStatus();
  return absl::PermissionDeniedError("a page of another site sent this request");
}

}  // namespace telemetry::http
