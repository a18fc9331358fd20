#include "worker/tune/suite_runner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"
#include "worker/runtime/tensor.h"
#include "worker/spec/specification.h"
#include "worker/tune/bound_tunable.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/compile/compiler_group.h"
#include "worker/tune/compile_ahead.h"
#include "worker/tune/library_subject.h"
#include "worker/tune/spec_kernel.h"
#include "worker/tune/spec_task.h"

namespace telemetry::worker::tune {
namespace {

using device::DeviceProperties;
using record::Cat;

// Devices with the same name, and the entries that they share.
struct DeviceKind {
  std::vector<std::string> ids;
  std::vector<SuiteOutcome> outcomes;
  std::atomic<size_t> next = 0;
};

// An entry whose first configs are compiled before it begins.
struct NextEntry {
  size_t index = 0;                         // in Suite::entries
  std::unique_ptr<CompileAhead> compiling;  // null: nothing is compiled
};

absl::StatusOr<std::vector<DeviceProperties>> ChooseDevices(const Suite& suite) {
  std::vector<DeviceProperties> all = device::ListDevices();
  std::vector<DeviceProperties> chosen;
  for (const std::string& id : suite.devices) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const DeviceProperties& device) { return DeviceId(device) == id; });
    if (found == all.end()) {
      return absl::NotFoundError(Cat("the suite's device ", id, " does not exist; see telemetry-worker devices"));
    }
    chosen.push_back(*found);
  }
  if (!chosen.empty()) return chosen;
  if (all.empty()) return absl::NotFoundError("no CUDA or OpenCL device found; see telemetry-worker devices");
  for (const DeviceProperties& device : all) {
    if (device.name == all.front().name && device.dialect == all.front().dialect) chosen.push_back(device);
  }
  return chosen;
}

class SuiteRunner {
 public:
  SuiteRunner(TuneSession& session, const Suite& suite, const SuiteOptions& options)
      : session_(session), suite_(suite), options_(options) {}

  absl::StatusOr<std::vector<SuiteOutcome>> Run() {
    ASSIGN_OR_RETURN(std::vector<DeviceProperties> devices, ChooseDevices(suite_));
    RETURN_IF_ERROR(StartCompilers(devices.front()));
    std::map<std::string, DeviceKind> kinds;
    for (const DeviceProperties& device : devices) {
      DeviceKind& kind = kinds[Cat(device.name, " ", runtime::DeviceTypeName(device.dialect))];
      kind.ids.push_back(DeviceId(device));
      kind.outcomes.resize(suite_.entries.size());
    }
    for (const auto& [name, kind] : kinds) entries_ += kind.outcomes.size();
    SayHowLong();
    std::vector<std::thread> threads;
    for (auto& [name, kind] : kinds) {
      for (const std::string& id : kind.ids) threads.emplace_back([this, &kind = kind, &id] { Work(id, &kind); });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<SuiteOutcome> outcomes;
    for (auto& [name, kind] : kinds)
      std::move(kind.outcomes.begin(), kind.outcomes.end(), std::back_inserter(outcomes));
    return outcomes;
  }

 private:
  // Starts the compilers of all devices and entries. They open the device or load the compiler's library while the
  // first entries make their inputs.
  absl::Status StartCompilers(const DeviceProperties& device) {
    const compile::CompilePoolOptions& pool = options_.tuner.processes.compile;
    ASSIGN_OR_RETURN(compilers_,
                     compile::CompilerGroup::Create(
                         {.program = pool.program, .memory_limit_bytes = pool.memory_limit_bytes}, pool.processes));
    compilers_->Prewarm(compile::WarmUpJob(device), pool.time_limit);
    return absl::OkStatus();
  }

  // Tunes entries until none is left. Those that another worker tunes at the moment come last.
  void Work(const std::string& device, DeviceKind* kind) {
    // Entries open the device again: in a process that has it open, that takes no time.
    const absl::StatusOr<std::shared_ptr<device::Device>> opened = device::OpenDevice(device);
    std::vector<size_t> later;
    NextEntry next;
    for (size_t i = kind->next++; i < suite_.entries.size(); i = kind->next++) {
      const NextEntry present = std::exchange(next, {});
      TuneTask task = MakeTask(suite_.entries[i], device);
      task.rules.may_come_back = true;
      if (present.compiling != nullptr && present.index == i) task.tuner.processes.pool = present.compiling->pool();
      if (opened.ok()) task.tuner.on_final = [&] { next = CompileNext(*kind, *opened); };
      if (!Tune(i, task, kind)) later.push_back(i);
    }
    for (const size_t i : later) {
      TuneTask task = MakeTask(suite_.entries[i], device);
      task.rules.may_come_back = false;
      Tune(i, task, kind);
    }
  }

  // Begins to compile the first configs of the entry that is next in line. If another device of this kind takes that
  // entry first, they are compiled in vain.
  NextEntry CompileNext(const DeviceKind& kind, const std::shared_ptr<device::Device>& device) {
    NextEntry next = {.index = kind.next};
    const bool is_cuda = device->properties().dialect == device::Dialect::kCuda;
    if (next.index >= suite_.entries.size() || !options_.compiles_ahead.value_or(is_cuda)) return next;
    const SuiteEntry& entry = suite_.entries[next.index];
    TuneTask task = MakeTask(entry, device->id());
    if (task.tuner.search.effort == search::Effort::kNone) return next;
    compile::CompilePoolOptions options = task.tuner.processes.compile;
    options.code_folder = session_.code_folder();
    const process::StepReport on_step = task.tuner.processes.measure.on_step;
    const auto make_kernel = [spec = entry.spec, task = std::move(task), device] {
      return MakeKernel(spec, task, device);
    };
    auto begun = CompileAhead::Begin(make_kernel, std::move(options), on_step);
    if (begun.ok()) next.compiling = *std::move(begun);
    return next;
  }

  // `spec` is the path of a specification; empty: the task has a library kernel.
  static absl::StatusOr<std::shared_ptr<const TunableKernel>> MakeKernel(
      const std::string& spec, const TuneTask& task, const std::shared_ptr<device::Device>& device) {
    if (!spec.empty()) {
      ASSIGN_OR_RETURN(spec::Specification read, spec::ReadSpecification(spec));
      return SpecKernel::Create(std::make_shared<const spec::Specification>(std::move(read)), device);
    }
    ASSIGN_OR_RETURN(BoundLibraryKernel bound, BindLibraryKernel(*task.kernel, task.problem, task.settings, device));
    return std::make_shared<const BoundTunable>(std::move(bound.bound), std::move(bound.arguments));
  }

  // Returns false if another worker tunes this entry and it was left out.
  bool Tune(size_t i, const TuneTask& task, DeviceKind* kind) {
    SuiteOutcome& outcome = kind->outcomes[i];
    outcome.entry = &suite_.entries[i];
    outcome.device = task.device;
    if (options_.tuner.stop != nullptr && *options_.tuner.stop) return true;
    const SuiteEntry& entry = suite_.entries[i];
    outcome.result =
        entry.spec.empty() ? session_.Run(task) : RunSpec(session_, entry.spec, task.device, task.tuner, task.rules);
    if (task.rules.may_come_back && absl::IsAborted(outcome.result.status())) {
      Line(outcome, "another worker tunes this run: it comes after the other entries");
      return false;
    }
    if (!outcome.result.ok()) Line(outcome, std::string(outcome.result.status().message()));
    SayLeft();
    return true;
  }

  TuneTask MakeTask(const SuiteEntry& entry, const std::string& device) {
    TuneTask task = {.kernel = entry.kernel,
                     .problem = entry.problem,
                     .settings = entry.settings.value_or(options_.settings),
                     .device = device,
                     .tuner = options_.tuner,
                     .rules = options_.rules};
    task.tuner.processes.compile.compilers = compilers_;
    if (const std::optional<search::Effort> effort = entry.effort ? entry.effort : suite_.effort) {
      task.tuner.search.effort = *effort;
    }
    const std::string name = Cat(entry.Name(), " on ", device);
    task.tuner.on_generation = [this, name](const GenerationSummary& summary) {
      Say(Cat(name, ": ", SummaryText(summary)));
    };
    task.tuner.on_notice = [this, name](const std::string& text) { Say(Cat(name, ": ", text)); };
    task.tuner.processes.measure.on_debug = [this, name](std::string_view text) { Say(Cat(name, ": ", text)); };
    return task;
  }

  // Reports the expected duration at the start, because a suite made for GPUs runs many times as long on a CPU.
  void SayHowLong() {
    const absl::Duration most = options_.tuner.time_budget;
    Say(Cat(record::Counted(entries_, "entry"),
            most == absl::InfiniteDuration()
                ? ", each some seconds to a minute on a GPU, many times as long on a CPU (--budget limits each)"
                : Cat(", each at most ", absl::FormatDuration(most))));
  }

  void SayLeft() {
    const size_t done = ++done_;
    const size_t left = entries_ - done;
    if (left == 0) return;
    const double left_s =
        absl::ToDoubleSeconds(ElapsedSince(began_)) / static_cast<double>(done) * static_cast<double>(left);
    Say(Cat(record::Counted(done, "entry"), " done; ", left, " more will take about ",
            absl::FormatDuration(absl::Seconds(std::ceil(left_s))), " at this pace (--budget limits each)"));
  }

  void Line(const SuiteOutcome& outcome, const std::string& text) {
    Say(Cat(outcome.entry->Name(), " on ", outcome.device, ": ", text));
  }

  void Say(const std::string& line) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (options_.on_line) options_.on_line(line);
  }

  TuneSession& session_;
  const Suite& suite_;
  const SuiteOptions& options_;
  std::shared_ptr<compile::CompilerGroup> compilers_;
  const SteadyTime began_ = SteadyNow();
  size_t entries_ = 0;  // total over all kinds of devices
  std::atomic<size_t> done_ = 0;
  absl::Mutex mutex_;
};

std::string FormatRow(const SuiteOutcome& outcome) {
  const std::string name = outcome.entry->Name();
  const std::string head = absl::StrFormat("%-48s %-9s ", name, outcome.device);
  if (!outcome.result.ok()) return Cat(head, std::string(outcome.result.status().message()), "\n");
  const TuneResult& tuned = outcome.result->tuned;
  if (tuned.stopped) return Cat(head, "stopped\n");
  if (!tuned.ranking.best) return Cat(head, "no config ran with correct results\n");
  const double best_ms = tuned.ranking.best->perf_ms;
  // The default config is not in the final if it failed or was so slow that its measurement was stopped.
  const std::optional<double> default_ms = tuned.ranking.default_perf_ms;
  const std::string compared = default_ms ? absl::StrFormat("%10.4f %7.2fx", *default_ms, *default_ms / best_ms)
                                          : absl::StrFormat("%10s %8s", "-", "-");
  return head + absl::StrFormat("%10.4f %s %8d %8.1f\n", best_ms, compared, recording::ConfigsRun(tuned.counters),
                                tuned.counters.seconds_total);
}

}  // namespace

absl::StatusOr<std::vector<SuiteOutcome>> RunSuite(TuneSession& session, const Suite& suite,
                                                   const SuiteOptions& options) {
  return SuiteRunner(session, suite, options).Run();
}

std::string SummaryTable(const std::vector<SuiteOutcome>& outcomes) {
  std::string table = absl::StrFormat("%-48s %-9s %10s %10s %8s %8s %8s\n", "kernel", "device", "best ms", "default ms",
                                      "speed-up", "configs", "seconds");
  for (const SuiteOutcome& outcome : outcomes) {
    if (outcome.entry != nullptr) table += FormatRow(outcome);
  }
  return table;
}

}  // namespace telemetry::worker::tune
