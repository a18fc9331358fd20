#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/cli/end_signals.h"
#include "proto/base/status_macros.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/kernels/library.h"
#include "worker/repro/repro_commands.h"
#include "worker/tune/spec_task.h"
#include "worker/tune/timeline.h"
#include "worker/tune/tune_progress.h"
#include "worker/tune/tune_session.h"
#include "worker/tune_flags.h"

namespace telemetry::worker {
namespace {

constexpr int kBarWidth = 20;

struct TuneCommandFlags {
  TuneFlags tune;
  std::string kernel;
  std::vector<std::string> arguments;
  std::string device;
  std::string spec;
  std::string timeline;  // a path; empty: none
};

// A progress bar on stderr below the lines of text. Prints no bar if stderr is not a terminal.
class ProgressDisplay {
 public:
  ~ProgressDisplay() { Clear(); }
  void Draw(const tune::TuneProgress& progress) {
    if (!on_terminal_) return;
    std::cerr << "\r\033[K" << tune::ProgressText(progress, kBarWidth) << std::flush;
    drawn_ = true;
  }
  void Line(const std::string& text) {
    Clear();
    std::cerr << text << "\n";
  }

 private:
  void Clear() {
    if (drawn_) std::cerr << "\r\033[K" << std::flush;
    drawn_ = false;
  }

  const bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  bool drawn_ = false;
};

absl::StatusOr<tune::TuneTask> MakeTask(const TuneCommandFlags& flags) {
  absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(flags.kernel);
  if (!kernel.ok()) return absl::InvalidArgumentError(kernel.status().message());
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ParseProblem(**kernel, flags.arguments));
  ASSIGN_OR_RETURN(runtime::Settings settings, ParseSettings(flags.tune.settings));
  ASSIGN_OR_RETURN(tune::TunerOptions tuner, ParseTunerOptions(flags.tune));
  return tune::TuneTask{.kernel = *kernel,
                        .problem = std::move(problem),
                        .settings = settings,
                        .device = flags.device,
                        .tuner = std::move(tuner),
                        .rules = {.search_known = flags.tune.search}};
}

absl::StatusOr<int> Tune(const TuneCommandFlags& flags) {
  ASSIGN_OR_RETURN(absl::Duration patience, ParseDuration("--drain-timeout", flags.tune.drain_timeout));
  RETURN_IF_ERROR(CheckKernelOrSpec(flags.kernel, flags.spec));
  tune::TuneTask task;
  if (flags.spec.empty()) {
    ASSIGN_OR_RETURN(task, MakeTask(flags));
  } else {
    ASSIGN_OR_RETURN(task.tuner, ParseTunerOptions(flags.tune));
    task.rules.search_known = flags.tune.search;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<tune::TuneSession> session, OpenSession(flags.tune));

  std::unique_ptr<tune::Timeline> timeline;
  if (!flags.timeline.empty()) {
    ASSIGN_OR_RETURN(timeline, tune::Timeline::Create(flags.timeline));
    task.tuner.processes.measure.on_step = [&timeline](std::string_view step, std::string_view config, SteadyTime begin,
                                                       SteadyTime end) { timeline->Add(step, config, begin, end); };
  }
  absl::StatusOr<tune::TaskResult> result;
  {
    ProgressDisplay display;
    task.tuner.stop = &cli::StopOnEndSignals();
    task.tuner.on_progress = [&display](const tune::TuneProgress& progress) { display.Draw(progress); };
    task.tuner.on_generation = [&display](const tune::GenerationSummary& summary) {
      display.Line(tune::SummaryText(summary));
    };
    task.tuner.on_notice = [&display](const std::string& text) { display.Line(text); };
    task.tuner.processes.measure.on_debug = [&display](std::string_view text) { display.Line(std::string(text)); };
    result =
        flags.spec.empty() ? session->Run(task) : RunSpec(*session, flags.spec, flags.device, task.tuner, task.rules);
  }
  if (result.ok()) {
    std::cout << Describe(*result) << "\n" << repro::ReproCommands(*result, flags.tune.collector, flags.spec);
  } else if (!absl::IsInvalidArgument(result.status())) {  // which is returned below
    spdlog::error("{}: {}", flags.spec.empty() ? flags.kernel : flags.spec, std::string(result.status().message()));
  }
  if (timeline != nullptr && !timeline->status().ok()) {
    spdlog::warn("the timeline is incomplete: {}", std::string(timeline->status().message()));
  }
  // A stopped process has little time before it is killed. The spool keeps the records that are left.
  const bool stopped = result.ok() && result->tuned.stopped;
  const bool delivered = DeliverAll(*session, flags.tune, stopped ? std::min(patience, absl::Seconds(8)) : patience);
  if (absl::IsInvalidArgument(result.status())) return result.status();
  const bool found = result.ok() && result->tuned.ranking.best.has_value();
  return found && delivered && session->refused() == 0 ? cli::kExitDone : cli::kExitFailed;
}

class TuneCommand final : public cli::Command {
 public:
  TuneCommand()
      : Command(
            {.name = "tune",
             .summary = "Find the fastest config of a kernel and stream all measurements",
             .examples =
                 R"(  telemetry-worker tune softmax --collector collector:4747                       default shapes, first device
  telemetry-worker tune softmax --arg x=4096x2560:f16 --device cuda:0 --effort full
  telemetry-worker tune matmul --arg x=512x256 --arg y=256x512 --budget 2m       at most two minutes
  telemetry-worker tune softmax --search                                         search on where the run is known
  telemetry-worker tune add --collector "" --log /tmp/autotune/add               no collector, only local sidecars
  telemetry-worker tune --spec conv.json --device opencl:0                        your own kernel, from a T1 file
  telemetry-worker tune --spec conv.json --samples 7 --warm-caches                measure like other tuners
  telemetry-worker tune softmax --debug-values 2 --debug-kernels softmax         print the values around launches
)",
             .notes =
                 R"(A run with a complete attempt, of this machine or in the collector, is confirmed: the configs of its final and the default
config are measured again, within seconds on a GPU.
For configs that crash, run too long or give wrong results, the commands that write programs which repeat them are printed
(telemetry-worker repro).
After a stop or a crash, rerun the command to resume; nothing is measured twice. Tuning continues while the collector is
down: records wait in the spool below --state-dir.
Exit status: 0 a config was found and the collector stored everything; 1 no config was found, or a record was refused or
is still in the spool; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    AddKernelOrSpec(flags, flags_.kernel, flags_.spec);
    AddArguments(flags, flags_.arguments);
    flags.Add("device", flags_.device, "One of `telemetry-worker devices` (default: the first)")->type_name("DEVICE");
    flags_.tune.AddTo(flags);
    flags
        .Add("timeline", flags_.timeline,
             "Also write the time of each step of each config (compile, wait, load, run, check, sample, record) as CSV")
        ->type_name("FILE");
  }

  absl::StatusOr<int> Run() override { return Tune(flags_); }

 private:
  TuneCommandFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewTune() { return cli::New<TuneCommand>(); }

}  // namespace telemetry::worker
