#include "worker/tune/suite_runner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"
#include "worker/runtime/tensor.h"
#include "worker/tune/compile/compile_job.h"
#include "worker/tune/compile/compiler_group.h"
#include "worker/tune/spec_task.h"

namespace telemetry::worker::tune {
namespace {

using device::DeviceProperties;
using record::Cat;

// Devices with the same name, and the entries that they share.
struct DeviceKind {
  bool begins_early = false;  // SuiteOptions::begins_early
  std::vector<std::string> ids;
  std::vector<SuiteOutcome> outcomes;
  std::atomic<size_t> next = 0;
};

// An entry that a thread tunes on a device.
struct RunningEntry {
  size_t index = 0;                                    // in Suite::entries
  std::shared_ptr<absl::Notification> device_is_free;  // null: it was free at the start
  std::unique_ptr<RunningEntry> next;                  // began during the final of this one; null: none did
  std::future<bool> tuned;                             // see SuiteRunner::Tune
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
      kind.begins_early = options_.begins_early.value_or(device.dialect == device::Dialect::kCuda);
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
    std::unique_ptr<RunningEntry> present = Begin(kind->next++, device, kind);
    while (present != nullptr) {
      if (!present->tuned.get()) later.push_back(present->index);
      std::unique_ptr<RunningEntry> next = std::move(present->next);
      if (next != nullptr) {
        next->device_is_free->Notify();
      } else {
        next = Begin(kind->next++, device, kind);
      }
      present = std::move(next);
    }
    for (const size_t i : later) {
      RunningEntry last = {.index = i};
      Tune(device, kind, /*may_come_back=*/false, &last);
    }
  }

  // Starts a thread that tunes entry `i`. Returns null if the suite has no such entry.
  std::unique_ptr<RunningEntry> Begin(size_t i, const std::string& device, DeviceKind* kind,
                                      std::shared_ptr<absl::Notification> device_is_free = nullptr) {
    if (i >= suite_.entries.size()) return nullptr;
    auto begun = std::make_unique<RunningEntry>();
    begun->index = i;
    begun->device_is_free = std::move(device_is_free);
    begun->tuned = std::async(std::launch::async, [this, &device, kind, running = begun.get()] {
      return Tune(device, kind, /*may_come_back=*/true, running);
    });
    return begun;
  }

  // Begins the next entry, which waits for the device. A further attempt at the same run does not begin early: it would
  // not know what this one has found.
  void BeginNext(const std::string& device, DeviceKind* kind, RunningEntry* present) {
    size_t i = kind->next;
    if (present->next != nullptr || i >= suite_.entries.size()) return;
    if (suite_.entries[i].Name() == suite_.entries[present->index].Name()) return;
    if (!kind->next.compare_exchange_strong(i, i + 1)) return;  // another device took it
    present->next = Begin(i, device, kind, std::make_shared<absl::Notification>());
  }

  // Returns false if another worker tunes this entry and it was left out.
  bool Tune(const std::string& device, DeviceKind* kind, bool may_come_back, RunningEntry* running) {
    const SuiteEntry& entry = suite_.entries[running->index];
    SuiteOutcome& outcome = kind->outcomes[running->index];
    outcome.entry = &entry;
    outcome.device = device;
    if (options_.tuner.stop != nullptr && *options_.tuner.stop) return true;
    TuneTask task = MakeTask(entry, device);
    task.rules.may_come_back = may_come_back;
    task.tuner.processes.device_is_free = running->device_is_free;
    if (kind->begins_early && may_come_back) {
      task.tuner.on_final = [this, &device, kind, running] { BeginNext(device, kind, running); };
    }
    outcome.result =
        entry.spec.empty() ? session_.Run(task) : RunSpec(session_, entry.spec, device, task.tuner, task.rules);
    if (may_come_back && absl::IsAborted(outcome.result.status())) {
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
