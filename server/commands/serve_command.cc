#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/cli/end_signals.h"
#include "proto/base/periodic.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"
#include "server/access/gate.h"
#include "server/collector/collector_server.h"
#include "server/collector/connection_limits.h"
#include "server/commands/commands.h"
#include "server/commands/serve_flags.h"
#include "server/commands/validate.h"
#include "server/commands/web_child.h"
#include "server/net/file_limit.h"
#include "server/storage/any/any_store.h"

namespace telemetry::commands {
namespace {

// The drain and the closing of the dataset together must stay well below the 10 s that a drain may take.
constexpr absl::Duration kDrainPatience = absl::Seconds(5);

// The time in which telemetry-web must listen.
constexpr absl::Duration kPagesPatience = absl::Seconds(30);

// The time after which the program exits although the drain is not complete: a disk that does not respond blocks the
// last commits.
constexpr absl::Duration kMostDrain = absl::Seconds(9);

// SQLite may report a failed fsync only once and continue as if nothing had happened. Therefore after an error nothing
// may be acknowledged, and not even an orderly close is safe.
void EndAtOnce(const absl::Status& status) {
  log::Critical("the dataset failed; exiting without acknowledging anything more", {{"reason", status.ToString()}});
  std::_Exit(EXIT_FAILURE);
}

// Ends the process when the drain does not complete in time.
void EndUndrained() {
  log::Critical("the disk does not respond; exiting before the drain is complete; everything acknowledged is durable");
  std::_Exit(EXIT_SUCCESS);
}

// Limits the rate of gRPC's log lines. gRPC logs each failed handshake, so that any client that reaches the port could
// flood the log.
void LimitGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args* line) {
    static access::LogLimit limit;
    uint64_t left_out = 0;
    if (!limit.Take(SteadyNow(), &left_out)) return;
    if (left_out > 0) log::Warn("more lines of gRPC were not logged", {{"count", left_out}});
    log::Warn("gRPC", {{"text", line->message}});
  });
}

// Logs protobuf's messages at the level debug. A record that does not parse goes to the rejects; protobuf's own line
// about it would let a producer flood the log.
void QuietProtobuf() {
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel /*level*/, const char* /*file*/, int /*line*/, const std::string& message) {
        log::Debug("protobuf", {{"text", message}});
      });
}

// Ends the process so that its supervisor restarts it.
void EndWithoutPort(const absl::Status& status) {
  log::Critical("lost a listening port; exiting; everything acknowledged is durable", {{"reason", status.ToString()}});
  std::_Exit(EXIT_FAILURE);
}

// Returns `asked` with the connection limits that this process can support.
absl::StatusOr<call::Limits> LimitsHere(const call::Limits& asked) {
  const uint64_t files = net::RaiseFileLimit();
  absl::StatusOr<call::Limits> limits = collector::FitConnections(asked, files);
  if (limits.ok() && limits->max_connections < asked.max_connections) {
    log::Warn("the limit on open files allows fewer connections than --max-connections",
              {{"files", files}, {"reserved", net::kReservedFiles}, {"connections", limits->max_connections}});
  }
  return limits;
}

const char* TransportName(const access::TlsFiles& tls) {
  if (tls.cert.empty()) return "plaintext";
  return tls.client_ca.empty() ? "TLS" : "mutual TLS";
}

std::string HostPart(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

// Serves until SIGTERM or SIGINT, then drains. If the dataset fails, the process exits immediately with status 1.
absl::Status Serve(const ServeFlags& flags) {
  log::SetUp(flags.log.format == "json" ? log::Format::kJson : log::Format::kText, flags.log.level);
  QuietProtobuf();
  LimitGrpcLog();
  const sigset_t signals = cli::BlockEndSignals();
  flags.security.Warn(flags.listen, "can read and write");
  flags.security.Warn(flags.metrics_listen, "can read the metrics");
  flags.security.Warn(flags.web_listen, "can read the dataset");
  ASSIGN_OR_RETURN(call::Limits limits, LimitsHere(flags.limits));
  ASSIGN_OR_RETURN(std::unique_ptr<collector::CollectorServer> server,
                   collector::CollectorServer::Start({.db = flags.db,
                                                      .listen = flags.listen,
                                                      .tls = flags.security.tls,
                                                      .metrics_listen = flags.metrics_listen,
                                                      .tokens = flags.security.tokens,
                                                      .limits = limits,
                                                      .retention = {.rules = flags.keep},
                                                      .writer = {},
                                                      .on_fatal = &EndAtOnce,
                                                      .on_lost_port = &EndWithoutPort}));
  std::printf("listening on %s:%d\n", HostPart(flags.listen).c_str(), server->port());
  if (!flags.metrics_listen.empty()) {
    std::printf("metrics on %s:%d\n", HostPart(flags.metrics_listen).c_str(), server->metrics_port());
  }
  std::optional<WebChild> web;
  if (!flags.web_listen.empty()) {
    web.emplace(flags.WebCommand(absl::StrCat(HostPart(flags.listen), ":", server->port())));
    ASSIGN_OR_RETURN(const std::string pages, web->AwaitAddress(kPagesPatience));
    std::printf("pages on %s\n", pages.c_str());
  }
  std::fflush(stdout);
  log::Info("serving", {{"db", storage::any::WithoutPasswords(flags.db)},
                        {"port", server->port()},
                        {"transport", TransportName(flags.security.tls)},
                        {"tokens", flags.security.tokens.empty() ? "none" : flags.security.tokens},
                        {"max_connections", limits.max_connections},
                        {"max_connections_per_address", limits.max_connections_per_address}});

  int signal = 0;
  sigwait(&signals, &signal);
  log::Info("draining", {{"signal", signal}});
  {
    const Periodic limit(kMostDrain, EndUndrained);
    server->Drain(kDrainPatience);
    server.reset();
  }
  web.reset();
  log::Info("done: everything acknowledged is durable");
  return absl::OkStatus();
}

class ServeCommand final : public cli::Command {
 public:
  ServeCommand()
      : Command({.name = "serve",
                 .summary = "Accept records from producers and serve readers, until SIGTERM or SIGINT",
                 .examples = R"(  telemetry-collector serve --db telemetry.db
  telemetry-collector serve --db telemetry.db --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:4749
  telemetry-collector serve --db telemetry.db --listen 0.0.0.0:4747 --tls-cert collector.pem --tls-key collector.key \
      --tls-client-ca runners-ca.pem --tokens tokens.json
  telemetry-collector serve --db telemetry.db --web-listen 127.0.0.1:4748      # pages for the browser
  telemetry-collector serve --db telemetry.db --keep-age 180d --keep-bytes 50GiB
  telemetry-collector serve --validate --config collector.toml
)"}) {}

  void AddFlags(cli::Flags& flags) override { flags_.AddTo(flags); }
  absl::Status Check() override { return flags_.Check(); }
  absl::StatusOr<int> Run() override {
    const absl::Status status = flags_.validate ? ValidateServe(flags_) : Serve(flags_);
    if (status.ok()) return cli::kExitDone;
    if (flags_.log.format != "json") return status;
    log::Error(std::string(status.message()));  // a JSON line, too, so that programs can parse the entire log
    return cli::kExitFailed;
  }

 private:
  ServeFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewServe() { return cli::New<ServeCommand>(); }

}  // namespace telemetry::commands
