#include "server/access/port_flags.h"

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/log/log.h"

namespace telemetry::access {
namespace {

std::string CheckListen(const std::string& text) {
  if (IsHostPort(text)) return "";
  return absl::StrCat("'", text, "' is not of the form HOST:PORT, as in 127.0.0.1:4747 or [::1]:4747");
}

}  // namespace

void PortSecurity::AddTo(cli::Flags& flags) {
  const auto file = [&flags](const std::string& name, std::string& value, const std::string& help) {
    return flags.Add(name, value, help)->type_name("FILE");
  };
  CLI::Option* cert = file("tls-cert", tls.cert, "Serve TLS with this certificate (PEM); reloaded when it changes");
  CLI::Option* key = file("tls-key", tls.key, "Private key of the certificate (PEM)");
  cert->needs(key);
  key->needs(cert);
  file("tls-client-ca", tls.client_ca, "Require client certificates of these authorities (PEM)")->needs(cert);
  file("tokens", tokens,
       "Require a token of this file from callers (see telemetry-collector token); reloaded when it changes");
  flags.Switch("insecure-beyond-loopback", insecure_beyond_loopback,
               "Let other machines reach a port, including the metrics port, without both TLS and tokens");
}

absl::Status PortSecurity::Check(const char* flag, const std::string& address, const char* open) const {
  if (insecure_beyond_loopback || StaysOnThisMachine(address)) return absl::OkStatus();
  if (!tls.cert.empty() && !tokens.empty()) return absl::OkStatus();
  const char* missing = tokens.empty() ? "are no tokens" : "is no TLS";
  if (tokens.empty() && tls.cert.empty()) missing = "are neither TLS nor tokens";
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", address, " lets other machines in, but there ", missing,
                   ": give --tls-cert, --tls-key and --tokens, or listen on 127.0.0.1, or give "
                   "--insecure-beyond-loopback if ",
                   open));
}

void PortSecurity::Warn(const std::string& address, const char* what) const {
  if (address.empty() || StaysOnThisMachine(address)) return;
  if (tokens.empty()) {
    log::Warn(absl::StrCat("no tokens are configured: every client that reaches the port ", what),
              {{"listen", address}});
  }
  if (tls.cert.empty()) {
    log::Warn("no TLS is configured: the traffic can be read on its way", {{"listen", address}});
  }
}

void AddListenFlag(cli::Flags& flags, const std::string& name, std::string& value, const std::string& help) {
  flags.Add(name, value, help)->type_name("HOST:PORT")->check(CLI::Validator(CheckListen, ""));
}

}  // namespace telemetry::access
