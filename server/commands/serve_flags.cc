#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/base/usage.h"
#include "server/commands/command_flags.h"
#include "server/commands/flag.h"
#include "server/commands/listen_address.h"
#include "server/storage/any/any_store.h"

namespace telemetry::collector {
namespace {

// The group of the rarely needed flags, which only --help-all shows.
constexpr char kLimits[] = "Limits";

std::string CheckListen(const std::string& text) {
  if (IsListenAddress(text)) return "";
  return absl::StrCat("'", text, "' is not of the form HOST:PORT, as in 127.0.0.1:4747 or [::1]:4747");
}

void AddListening(CLI::App* serve, CommandLine& line) {
  Flag(serve, "listen", line.listen, "Address to serve on; port 0 selects a free port")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
  Flag(serve, "metrics-listen", line.metrics_listen,
       "Address of the Prometheus metrics page /metrics; beyond loopback with TLS and tokens of role reader")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator(CheckListen, ""));
}

void AddSecurity(CLI::App* serve, CommandLine& line) {
  const auto file = [serve](const std::string& name, std::string& value, const std::string& help) {
    return Flag(serve, name, value, help)->type_name("FILE");
  };
  CLI::Option* cert =
      file("tls-cert", line.tls.cert, "Serve TLS with this certificate (PEM); reloaded when it changes");
  CLI::Option* key = file("tls-key", line.tls.key, "Private key of the certificate (PEM)");
  cert->needs(key);
  key->needs(cert);
  file("tls-client-ca", line.tls.client_ca, "Require client certificates of these authorities (PEM)")->needs(cert);
  file("tokens", line.tokens,
       "Require a token of this file from callers (see the command token); reloaded when it changes");
  Switch(serve, "insecure-beyond-loopback", line.insecure_beyond_loopback,
         "Let other machines reach a port, including the metrics port, without both TLS and tokens");
}

void AddLogging(CLI::App* serve, CommandLine& line) {
  Flag(serve, "log-level", line.log_level, "Lowest level to log on stderr")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  Flag(serve, "log-format", line.log_format, "Log format: lines of text, or one JSON object per line")
      ->check(CLI::IsMember({"text", "json"}));
}

// Returns the reason to refuse to serve this address, or an empty string. `open`: the consequence of serving it anyway.
std::string WhyNotListen(const CommandLine& line, const char* flag, const std::string& address, const char* open) {
  if (access::StaysOnThisMachine(address)) return "";
  if (!line.tls.cert.empty() && !line.tokens.empty()) return "";
  const char* missing = line.tokens.empty() ? "are no tokens" : "is no TLS";
  if (line.tokens.empty() && line.tls.cert.empty()) missing = "are neither TLS nor tokens";
  return absl::StrCat(flag, " ", address, " lets other machines in, but there ", missing,
                      ": give --tls-cert, --tls-key and --tokens, or listen on 127.0.0.1, or give "
                      "--insecure-beyond-loopback if ",
                      open);
}

}  // namespace

std::string WhyNotServe(const CommandLine& line) {
  const storage::PruneRules usual = CommandLine().keep;
  const bool has_rule = line.keep.keep_age != usual.keep_age || line.keep.keep_bytes != usual.keep_bytes ||
                        line.keep.keep_rejects_bytes != usual.keep_rejects_bytes;
  if (storage::IsPostgresqlUrl(line.db) && has_rule) {
    return "--keep-age, --keep-bytes and --keep-rejects-bytes work on SQLite files only: serve removes nothing from a "
           "PostgreSQL server";
  }
  if (line.insecure_beyond_loopback) return "";
  if (std::string why = WhyNotListen(line, "--listen", line.listen, "everyone on the network may read and write");
      !why.empty()) {
    return why;
  }
  if (line.metrics_listen.empty()) return "";
  return WhyNotListen(line, "--metrics-listen", line.metrics_listen, "everyone on the network may read the metrics");
}

void AddServe(CLI::App& app, CommandLine& line) {
  CLI::App* serve =
      app.add_subcommand("serve", "Accept records from producers and serve readers, until SIGTERM or SIGINT");
  File(serve, "db", line.db,
       "The dataset's SQLite file, created if it does not exist; or postgresql://USER@HOST/DATABASE, for several "
       "collectors");
  Switch(serve, "validate", line.validate, "Check the configuration, print what would be served, and start nothing");
  AddListening(serve, line);
  AddSecurity(serve, line);
  AddLogging(serve, line);
  AddDisk(serve, line);
  AddKeep(serve, line.keep);
  const size_t common = serve->get_options().size();
  AddLimits(serve, line.limits);
  const std::vector<CLI::Option*> options = serve->get_options();
  for (size_t i = common; i < options.size(); ++i) options[i]->group(kLimits);
  cli::HideGroups(*serve, {kLimits});
}

}  // namespace telemetry::collector
