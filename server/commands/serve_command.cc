#include "server/commands/serve_command.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/base/periodic.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"
#include "server/access/gate.h"
#include "server/collector/collector_server.h"
#include "server/collector/connection_limits.h"
#include "server/net/file_limit.h"
#include "server/storage/any/any_store.h"

namespace telemetry::collector {
namespace {

// The drain and the closing of the dataset together must stay well below the 10 s that a drain may take.
constexpr absl::Duration kDrainPatience = absl::Seconds(5);

// The time after which the program exits although the drain is not complete: a disk that does not respond blocks the
// last commits.
constexpr absl::Duration kMostDrain = absl::Seconds(9);

// Blocks the signals that end the program, for this and all later threads, so that one thread can wait for them.
sigset_t BlockEndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

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
absl::StatusOr<Limits> LimitsHere(const Limits& asked) {
  const uint64_t files = net::RaiseFileLimit();
  absl::StatusOr<Limits> limits = FitConnections(asked, files);
  if (limits.ok() && limits->max_connections < asked.max_connections) {
    log::Warn("the limit on open files allows fewer connections than --max-connections",
              {{"files", files}, {"reserved", net::kReservedFiles}, {"connections", limits->max_connections}});
  }
  return limits;
}

void WarnOfOpenPort(const CommandLine& line, const std::string& address, const char* what) {
  if (address.empty() || access::StaysOnThisMachine(address)) return;
  if (line.tokens.empty()) {
    log::Warn(absl::StrCat("no tokens are configured: every client that reaches the port ", what),
              {{"listen", address}});
  }
  if (line.tls.cert.empty()) {
    log::Warn("no TLS is configured: the traffic can be read on its way", {{"listen", address}});
  }
}

const char* TransportOf(const access::TlsFiles& tls) {
  if (tls.cert.empty()) return "plaintext";
  return tls.client_ca.empty() ? "TLS" : "mutual TLS";
}

std::string HostOf(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

}  // namespace

absl::Status Serve(const CommandLine& line) {
  log::SetUp(line.log_format == "json" ? log::Format::kJson : log::Format::kText, line.log_level);
  QuietProtobuf();
  LimitGrpcLog();
  const sigset_t signals = BlockEndSignals();
  WarnOfOpenPort(line, line.listen, "can read and write");
  WarnOfOpenPort(line, line.metrics_listen, "can read the metrics");
  ASSIGN_OR_RETURN(Limits limits, LimitsHere(line.limits));
  ASSIGN_OR_RETURN(std::unique_ptr<CollectorServer> server,
                   CollectorServer::Start({.db = line.db,
                                           .listen = line.listen,
                                           .tls = line.tls,
                                           .metrics_listen = line.metrics_listen,
                                           .tokens = line.tokens,
                                           .limits = limits,
                                           .retention = {.rules = RulesOf(line)},
                                           .writer = {},
                                           .on_fatal = &EndAtOnce,
                                           .on_lost_port = &EndWithoutPort}));
  std::printf("listening on %s:%d\n", HostOf(line.listen).c_str(), server->port());
  if (!line.metrics_listen.empty()) {
    std::printf("metrics on %s:%d\n", HostOf(line.metrics_listen).c_str(), server->metrics_port());
  }
  std::fflush(stdout);
  log::Info("serving", {{"db", storage::WithoutPasswords(line.db)},
                        {"port", server->port()},
                        {"transport", TransportOf(line.tls)},
                        {"tokens", line.tokens.empty() ? "none" : line.tokens},
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
  log::Info("done: everything acknowledged is durable");
  return absl::OkStatus();
}

}  // namespace telemetry::collector
