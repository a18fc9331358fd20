#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/cli/end_signals.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/counted.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/forward/forward.h"
#include "worker/tune/suite.h"
#include "worker/tune/suite_runner.h"
#include "worker/tune_flags.h"

namespace telemetry::worker {
namespace {

constexpr absl::Duration kStopInterval = absl::Milliseconds(200);

struct RunFlags {
  TuneFlags tune;
  std::string suite;
  std::string every;  // a duration; empty: tune the suite once
  std::vector<std::string> follow;
};

// A background thread that follows the sidecars of other tuners and appends their records to the session's spool.
class SidecarFollower {
 public:
  // Does nothing if there is nothing to follow. Sets `complete` to false if a record was not forwarded, at the latest
  // in the destructor.
  SidecarFollower(const RunFlags& flags, tune::TuneSession& session, std::atomic<bool>& complete) {
    if (flags.follow.empty()) return;
    stop_fd_ = eventfd(0, EFD_CLOEXEC);
    if (stop_fd_ < 0) {
      spdlog::error("--follow: cannot create an eventfd: {}", std::strerror(errno));
      complete = false;
      return;
    }
    const forward::ForwardOptions options = {
        .paths = flags.follow, .origin = flags.tune.origin, .on_problem = [](const std::string& problem) {
          spdlog::error("--follow: {}", problem);
        }};
    thread_ = std::thread([this, options, producer = session.producer(), &complete] {
      const absl::StatusOr<forward::ForwardResult> result = forward::ForwardAndWatch(
          options, stop_fd_, [producer](const v1::Record& record) { return producer->Append(record); });
      if (!result.ok()) spdlog::error("--follow: {}", std::string(result.status().message()));
      if (result.ok() && result->counts.rejects > 0) {
        spdlog::error("--follow: {} unreadable: see the collector's table `rejects`",
                      record::Counted(result->counts.rejects, "line"));
      }
      if (!result.ok() || !result->problems.empty() || result->counts.rejects > 0) complete = false;
    });
  }
  ~SidecarFollower() {
    if (!thread_.joinable()) return;
    eventfd_write(stop_fd_, 1);
    thread_.join();
    close(stop_fd_);
  }
  SidecarFollower(const SidecarFollower&) = delete;
  SidecarFollower& operator=(const SidecarFollower&) = delete;

 private:
  int stop_fd_ = -1;
  std::thread thread_;
};

bool IsComplete(const tune::SuiteOutcome& outcome) {
  return outcome.result.ok() && outcome.result->tuned.ranking.best.has_value();
}

// Tunes the suite once and prints the table of outcomes. Returns false if an entry was not tuned.
absl::StatusOr<bool> RunOnce(tune::TuneSession& session, const tune::Suite& suite, const tune::SuiteOptions& options) {
  ASSIGN_OR_RETURN(std::vector<tune::SuiteOutcome> outcomes, tune::RunSuite(session, suite, options));
  std::cout << tune::SummaryTable(outcomes) << std::flush;
  return std::all_of(outcomes.begin(), outcomes.end(), IsComplete);
}

void SleepUntil(SteadyTime time, const std::atomic<bool>& stop) {
  while (!stop && SteadyNow() < time) absl::SleepFor(std::min(kStopInterval, TimeUntil(time)));
}

absl::StatusOr<tune::SuiteOptions> MakeSuiteOptions(const RunFlags& flags) {
  ASSIGN_OR_RETURN(tune::TunerOptions tuner, ParseTunerOptions(flags.tune));
  ASSIGN_OR_RETURN(runtime::Settings settings, ParseSettings(flags.tune.settings));
  tuner.stop = &cli::StopOnEndSignals();
  return tune::SuiteOptions{.tuner = std::move(tuner),
                            .rules = {.search_known = flags.tune.search},
                            .settings = settings,
                            .on_line = [](const std::string& line) { std::cerr << line << "\n"; }};
}

absl::StatusOr<int> TuneSuite(const RunFlags& flags) {
  ASSIGN_OR_RETURN(absl::Duration patience, ParseDuration("--drain-timeout", flags.tune.drain_timeout));
  if (!flags.follow.empty() && flags.tune.collector.empty()) {
    return absl::InvalidArgumentError("--follow: there is no --collector to forward to");
  }
  absl::Duration every = absl::InfiniteDuration();
  if (!flags.every.empty()) {
    ASSIGN_OR_RETURN(absl::Duration parsed, ParseDuration("--every", flags.every));
    every = parsed;
  }
  absl::StatusOr<tune::Suite> suite = tune::ReadSuite(flags.suite);
  if (!suite.ok()) return absl::InvalidArgumentError(suite.status().message());
  ASSIGN_OR_RETURN(tune::SuiteOptions options, MakeSuiteOptions(flags));
  ASSIGN_OR_RETURN(std::unique_ptr<tune::TuneSession> session, OpenSession(flags.tune));

  const std::atomic<bool>& stop = *options.tuner.stop;
  bool tuned = true;
  std::atomic<bool> followed = true;
  {
    const SidecarFollower follower(flags, *session, followed);
    while (!stop) {
      const SteadyTime next = SteadyAfter(every);
      ASSIGN_OR_RETURN(bool all, RunOnce(*session, *suite, options));
      tuned = all;
      if (next == kNever) break;
      SleepUntil(next, stop);  // returns immediately if the suite took longer than the interval
    }
  }
  // A stopped daemon has little time before it is killed. The spool keeps the records that are left.
  const bool delivered = DeliverAll(*session, flags.tune, stop ? std::min(patience, absl::Seconds(8)) : patience);
  return tuned && followed && delivered && session->refused() == 0 ? cli::kExitDone : cli::kExitFailed;
}

class RunCommand final : public cli::Command {
 public:
  RunCommand()
      : Command({.name = "run",
                 .summary = "Tune the kernels of a suite, once or on a schedule",
                 .examples = R"(  telemetry-worker run --suite suite.json --collector collector:4747
  telemetry-worker run --suite suite.json --every 24h --follow /var/lib/helion     the daemon of a GPU runner
)",
                 .notes = R"(A suite:
  {"devices": ["cuda:0", "cuda:1"], "effort": "quick", "kernels": [
    {"kernel": "softmax", "args": ["x=4096x2560:f16"]},
    {"kernel": "attention", "args": ["causal=true"], "effort": "full"}]}
GPUs of the same kind share the kernels, with one measuring process per GPU. Without "devices", the suite runs on all
devices of the same kind as the first one.
Exit status: 0 every kernel was tuned, all sidecars were forwarded, and the collector stored everything; 1 not so;
2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.Add("suite", flags_.suite, "JSON file with the kernels to tune")->required()->type_name("FILE");
    flags.Add("every", flags_.every, "Tune the suite at this interval until SIGTERM (default: once)")
        ->type_name("TIME");
    flags.Add("follow", flags_.follow, "Also forward the Helion sidecars in this folder as they grow")
        ->type_name("PATH")
        ->take_all()
        ->allow_extra_args(false);
    flags_.tune.AddTo(flags);
  }

  absl::StatusOr<int> Run() override { return TuneSuite(flags_); }

 private:
  RunFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewRun() { return cli::New<RunCommand>(); }

}  // namespace telemetry::worker
