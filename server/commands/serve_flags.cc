#include "server/commands/serve_flags.h"

#include "proto/base/status_macros.h"
#include "server/commands/cache_flags.h"
#include "server/commands/limit_flags.h"
#include "server/commands/retention_flags.h"
#include "server/commands/web_child.h"

namespace telemetry::commands {

void ServeFlags::AddTo(cli::Flags& flags) {
  flags.File("db", db,
             "The dataset's SQLite file, created if it does not exist; or postgresql://USER@HOST/DATABASE, for several "
             "collectors");
  flags.Switch("validate", validate, "Check the configuration, print what would be served, and start nothing");
  access::AddListenFlag(flags, "listen", listen, "Address to serve on; port 0 selects a free port");
  access::AddListenFlag(
      flags, "metrics-listen", metrics_listen,
      "Address of the Prometheus metrics page /metrics; beyond loopback with TLS and tokens of role reader");
  access::AddListenFlag(flags, "web-listen", web_listen,
                        "Address of the pages that show the dataset in a browser (see telemetry-web), such as "
                        "127.0.0.1:4748; beyond loopback with TLS and tokens of role reader");
  flags
      .Add("web-host-name", web_names, "Further name under which browsers reach the pages; can be given several times")
      ->delimiter(',')
      ->type_name("NAME");
  security.AddTo(flags);
  log.AddTo(flags);
  flags
      .Size("keep-free", limits.keep_free_bytes,
            "Free space of the dataset's disk below which records are rejected; 0: reject only when it is full")
      ->default_str("256MiB");
  AddRetentionFlags(flags, keep);
  AddCacheFlags(flags, limits.cache);
  AddModelFlags(flags, limits.models);
  AddLimitFlags(flags, limits);
}

absl::Status ServeFlags::Check() const {
  RETURN_IF_ERROR(security.Check("--listen", listen, "everyone on the network may read and write"));
  if (!web_listen.empty()) {
    RETURN_IF_ERROR(security.Check("--web-listen", web_listen, "everyone on the network may read the dataset"));
  }
  if (metrics_listen.empty()) return absl::OkStatus();
  return security.Check("--metrics-listen", metrics_listen, "everyone on the network may read the metrics");
}

std::vector<std::string> ServeFlags::WebCommand(const std::string& collector) const {
  std::vector<std::string> command = {SiblingProgram("telemetry-web"),
                                      "--db",
                                      db,
                                      "--listen",
                                      web_listen,
                                      "--log-level",
                                      log.level,
                                      "--log-format",
                                      log.format};
  const auto add = [&command](const char* flag, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {flag, value});
  };
  add("--tls-cert", security.tls.cert);
  add("--tls-key", security.tls.key);
  add("--tls-client-ca", security.tls.client_ca);
  add("--tokens", security.tokens);
  // The certificate may name this machine differently than its address.
  if (security.tls.cert.empty()) add("--collector", collector);
  for (const std::string& name : web_names) add("--host-name", name);
  if (security.insecure_beyond_loopback) command.emplace_back("--insecure-beyond-loopback");
  return command;
}

}  // namespace telemetry::commands
