// telemetry-web: shows a dataset in the browser.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/access/grpc_log.h"
#include "proto/base/cli/end_signals.h"
#include "proto/base/cli/program.h"
#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "server/net/file_limit.h"
#include "server/storage/any/any_store.h"
#include "server/web/program/web_flags.h"
#include "server/web/program/web_server.h"

namespace telemetry::web::program {
namespace {

constexpr char kDescription[] =
    "Serves pages that show a dataset in the browser: running searches, results, regressions, IR graphs.\n"
    "Reads the dataset only, also while a collector writes it. The pages update by themselves.";

constexpr char kExamples[] =
    "  telemetry-web --db telemetry.db                       # then open http://127.0.0.1:4748\n"
    "  telemetry-web --db postgresql://reader@db/telemetry --collector collector-1:4747 --collector collector-2:4747\n"
    "  telemetry-web --db telemetry.db --listen 0.0.0.0:443 --host-name telemetry.example.org \\\n"
    "      --tls-cert web.pem --tls-key web.key --tokens tokens.json\n";

constexpr char kNotes[] =
    "With --tokens, a browser signs in with a token of the role reader (telemetry-collector token add), and other\n"
    "programs send it to /api/v1 as 'Authorization: Bearer TOKEN'. /metrics has metrics for Prometheus.\n"
    "Every option can be given as an environment variable (TELEMETRY_WEB_LISTEN for --listen) and in the file of\n"
    "--config, one line such as 'listen = \"127.0.0.1:4748\"' per option.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage.";

// Ends the process so that its supervisor restarts it.
void EndWithoutPort(const absl::Status& status) {
  log::Critical("lost the listening port; exiting", {{"reason", status.ToString()}});
  std::_Exit(EXIT_FAILURE);
}

std::string HostPart(const std::string& listen) { return listen.substr(0, listen.rfind(':')); }

class WebCommand final : public cli::Command {
 public:
  WebCommand() : Command({.name = "", .summary = kDescription, .examples = kExamples, .notes = kNotes}) {}

  void AddFlags(cli::Flags& flags) override { flags_.AddTo(flags); }
  absl::Status Check() override { return flags_.Check(); }

  absl::StatusOr<int> Run() override {
    log::SetUp(flags_.log.format == "json" ? log::Format::kJson : log::Format::kText, flags_.log.level);
    const sigset_t signals = cli::BlockEndSignals();
    flags_.security.Warn(flags_.listen, "can read the dataset");
    net::RaiseFileLimit();
    ASSIGN_OR_RETURN(std::unique_ptr<WebServer> server, WebServer::Start(Options()));
    const bool is_secure = !flags_.security.tls.cert.empty();
    const std::string address =
        absl::StrCat(is_secure ? "https" : "http", "://", HostPart(flags_.listen), ":", server->port());
    std::printf("listening on %s\n", address.c_str());
    std::fflush(stdout);
    log::Info("serving", {{"db", storage::any::WithoutPasswords(flags_.db)},
                          {"address", address},
                          {"tokens", flags_.security.tokens.empty() ? "none" : flags_.security.tokens}});
    int signal = 0;
    sigwait(&signals, &signal);
    log::Info("ending", {{"signal", signal}});
    server.reset();
    return cli::kExitDone;
  }

 private:
  WebServerOptions Options() const {
    return {.db = flags_.db,
            .http = {.address = flags_.listen,
                     .tls = flags_.security.tls,
                     .host_names = flags_.names,
                     .limits = {},
                     .on_lost = &EndWithoutPort},
            .tokens = flags_.security.tokens,
            .scratch_dir = flags_.scratch_dir,
            .collectors = flags_.collectors,
            .collector_credentials = {.tls_ca = flags_.collector_ca}};
  }

  WebFlags flags_;
};

}  // namespace
}  // namespace telemetry::web::program

int main(int argc, char** argv) {
  constexpr telemetry::cli::NewCommand kCommand = telemetry::cli::New<telemetry::web::program::WebCommand>;
  // Debian builds Abseil with assertions, with which every lock of a mutex searches all mutexes ever held for cycles.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  telemetry::access::QuietGrpc();
  return telemetry::cli::RunProgram(
      {.name = "telemetry-web", .summary = telemetry::web::program::kDescription, .commands = {&kCommand, 1}}, argc,
      argv);
}
