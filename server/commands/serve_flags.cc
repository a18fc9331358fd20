#include "server/commands/serve_flags.h"

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/base/status_macros.h"
#include "server/commands/cache_flags.h"
#include "server/commands/limit_flags.h"
#include "server/commands/listen_address.h"
#include "server/commands/retention_flags.h"

namespace telemetry::commands {
namespace {

std::string CheckListen(const std::string& text) {
  if (IsListenAddress(text)) return "";
  return absl::StrCat("'", text, "' is not of the form HOST:PORT, as in 127.0.0.1:4747 or [::1]:4747");
}

void AddListening(cli::Flags& flags, ServeFlags& serve) {
  flags.Add("listen", serve.listen, "Address to serve on; port 0 selects a free port")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
  flags
      .Add("metrics-listen", serve.metrics_listen,
           "Address of the Prometheus metrics page /metrics; beyond loopback with TLS and tokens of role reader")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
}

void AddSecurity(cli::Flags& flags, ServeFlags& serve) {
  const auto file = [&flags](const std::string& name, std::string& value, const std::string& help) {
    return flags.Add(name, value, help)->type_name("FILE");
  };
  CLI::Option* cert =
      file("tls-cert", serve.tls.cert, "Serve TLS with this certificate (PEM); reloaded when it changes");
  CLI::Option* key = file("tls-key", serve.tls.key, "Private key of the certificate (PEM)");
  cert->needs(key);
  key->needs(cert);
  file("tls-client-ca", serve.tls.client_ca, "Require client certificates of these authorities (PEM)")->needs(cert);
  file("tokens", serve.tokens,
       "Require a token of this file from callers (see the command token); reloaded when it changes");
  flags.Switch("insecure-beyond-loopback", serve.insecure_beyond_loopback,
               "Let other machines reach a port, including the metrics port, without both TLS and tokens");
}

void AddLogging(cli::Flags& flags, ServeFlags& serve) {
  flags.Add("log-level", serve.log_level, "Lowest level to log on stderr")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  flags.Add("log-format", serve.log_format, "Log format: lines of text, or one JSON object per line")
      ->check(CLI::IsMember({"text", "json"}));
}

// Returns an error if `address` lets other machines in without TLS and tokens. `open`: the consequence of serving it
// anyway.
absl::Status CheckOpenPort(const ServeFlags& serve, const char* flag, const std::string& address, const char* open) {
  if (access::StaysOnThisMachine(address)) return absl::OkStatus();
  if (!serve.tls.cert.empty() && !serve.tokens.empty()) return absl::OkStatus();
  const char* missing = serve.tokens.empty() ? "are no tokens" : "is no TLS";
  if (serve.tokens.empty() && serve.tls.cert.empty()) missing = "are neither TLS nor tokens";
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", address, " lets other machines in, but there ", missing,
                   ": give --tls-cert, --tls-key and --tokens, or listen on 127.0.0.1, or give "
                   "--insecure-beyond-loopback if ",
                   open));
}

}  // namespace

void ServeFlags::AddTo(cli::Flags& flags) {
  flags.File("db", db,
             "The dataset's SQLite file, created if it does not exist; or postgresql://USER@HOST/DATABASE, for several "
             "collectors");
  flags.Switch("validate", validate, "Check the configuration, print what would be served, and start nothing");
  AddListening(flags, *this);
  AddSecurity(flags, *this);
  AddLogging(flags, *this);
  flags
      .Size("keep-free", limits.keep_free_bytes,
            "Free space of the dataset's disk below which records are rejected; 0: reject only when it is full")
      ->default_str("256MiB");
  AddRetentionFlags(flags, keep);
  AddCacheFlags(flags, limits.cache);
  AddLimitFlags(flags, limits);
}

absl::Status ServeFlags::Check() const {
  if (insecure_beyond_loopback) return absl::OkStatus();
  RETURN_IF_ERROR(CheckOpenPort(*this, "--listen", listen, "everyone on the network may read and write"));
  if (metrics_listen.empty()) return absl::OkStatus();
  return CheckOpenPort(*this, "--metrics-listen", metrics_listen, "everyone on the network may read the metrics");
}

}  // namespace telemetry::commands
