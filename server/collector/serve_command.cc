#include "server/collector/serve_command.h"

#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "server/collector/collector_server.h"

namespace telemetry::collector {
namespace {

// Together with closing the dataset well below the 10 s that a drain may take.
constexpr absl::Duration kDrainPatience = absl::Seconds(5);

// Blocks the signals that end the program, for this and all later threads, so that one thread can wait for them.
sigset_t BlockEndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// SQLite may report a failed fsync once and go on as if nothing had happened: nothing may be acknowledged or even
// closed in order after an error.
void EndAtOnce(const absl::Status& status) {
  spdlog::critical("the dataset failed, ending without acknowledging: {}", status.ToString());
  spdlog::default_logger()->flush();
  std::_Exit(EXIT_FAILURE);
}

bool IsLoopback(const std::string& listen) {
  return absl::StartsWith(listen, "127.") || absl::StartsWith(listen, "localhost:") ||
         absl::StartsWith(listen, "[::1]:");
}

// A record that does not parse goes to the rejects; protobuf's own line about it would let a producer flood the log.
void QuietProtobuf() {
  google::protobuf::SetLogHandler([](google::protobuf::LogLevel /*level*/, const char* /*file*/, int /*line*/,
                                     const std::string& message) { spdlog::debug("protobuf: {}", message); });
}

std::string HostOf(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

}  // namespace

absl::Status Serve(const CommandLine& line) {
  spdlog::set_level(spdlog::level::from_str(line.log_level));
  QuietProtobuf();
  const sigset_t signals = BlockEndSignals();
  if (!IsLoopback(line.listen)) {
    spdlog::warn("listening on {}: there is no authentication, anyone who reaches this port can write", line.listen);
  }
  absl::StatusOr<std::unique_ptr<CollectorServer>> server = CollectorServer::Start(
      {.db = line.db, .listen = line.listen, .limits = line.limits, .writer = {}, .on_fatal = &EndAtOnce});
  if (!server.ok()) return server.status();
  std::printf("listening on %s:%d\n", HostOf(line.listen).c_str(), (*server)->port());
  std::fflush(stdout);
  spdlog::info("serving {} on port {}", line.db, (*server)->port());

  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("signal {}: draining", signal);
  (*server)->Drain(kDrainPatience);
  spdlog::info("everything acknowledged is durable; done");
  return absl::OkStatus();
}

}  // namespace telemetry::collector
