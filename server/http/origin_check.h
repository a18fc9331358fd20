#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::http {

// The names under which a server may be addressed. Protects against DNS rebinding: a page of another site whose name
// resolves to this server sends the name of that site.
class OriginCheck {
 public:
  // `listen`: HOST:PORT of the server. `names`: further names, without a port. A server on a loopback address answers
  // to the names of the loopback; a server on all addresses answers to every IP address, and to `names`.
  OriginCheck(std::string_view listen, std::vector<std::string> names);

  // Returns OK if the Host header names this server.
  absl::Status CheckHost(std::string_view host) const;
  // Returns OK if the Origin header is absent (empty), or the origin of a page of this server: the Host header's. A
  // server without TLS also accepts https, which a proxy in front of it may add.
  static absl::Status CheckOrigin(std::string_view origin, std::string_view host, bool is_secure);

 private:
  std::vector<std::string> names_;  // lower case, IPv6 addresses in brackets
  bool allows_addresses_ = false;
};

}  // namespace telemetry::http
