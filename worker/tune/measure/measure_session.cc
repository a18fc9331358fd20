#include "worker/tune/measure/measure_session.h"

#include <algorithm>
#include <string>

#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "worker/device/open_device.h"
#include "worker/tune/measure/failures.h"
#include "worker/tune/measure/measure_request.h"
#include "worker/tune/measure/round_series.h"
#include "worker/tune/measure/sample_series.h"
#include "worker/tune/measure/wire_format.h"

namespace telemetry::worker::tune::measure {
namespace {

// Returns the launch of a config. An error that it returns is a launch failure; a later error is a failure of the run.
Sampler::Launch MakeLaunch(LoadedConfig& config) {
  return [&config] { return config.Launch(); };
}

Sampler::Caches CachesFor(const wire::Effort& effort) {
  return effort.warm() ? Sampler::Caches::kWarm : Sampler::Caches::kFlushed;
}

// Returns a text that is equal for configs that are loaded and launched in the same way.
std::string LoadKey(wire::Config config) {
  config.clear_effort();
  config.clear_kernel();
  config.clear_label();
  return config.SerializeAsString();
}

// Returns the seconds since `*begin`, and sets `*begin` to the current time.
double Lap(SteadyTime* begin) {
  const SteadyTime now = SteadyNow();
  const absl::Duration lap = absl::FromChrono(now - *begin);
  *begin = now;
  return absl::ToDoubleSeconds(lap);
}

}  // namespace

absl::StatusOr<OpenedDevice> OpenedDevice::Open(const std::string& id, const process::StepReport& on_step) {
  OpenedDevice opened;
  {
    const process::ReportedStep step(on_step, "child device");
    ASSIGN_OR_RETURN(opened.device, device::OpenDevice(id));
  }
  const process::ReportedStep step(on_step, "child checks");
  ASSIGN_OR_RETURN(opened.checks, DeviceChecks::Create(opened.device.get()));
  ASSIGN_OR_RETURN(opened.sampler, Sampler::Create(opened.device));
  return opened;
}

absl::StatusOr<std::unique_ptr<MeasureSession>> MeasureSession::Open(OpenedDevice opened, wire::Setup setup,
                                                                     process::SharedBytes data, Reports reports,
                                                                     const process::StepReport& on_step) {
  const process::ReportedStep step(on_step, "child memory");
  const debug::DebugOptions debug = FromWire(setup.debug());
  ASSIGN_OR_RETURN(std::unique_ptr<ProblemMemory> memory,
                   ProblemMemory::Create(opened.device, std::move(opened.checks), std::move(setup), std::move(data)));
  std::unique_ptr<LaunchDebugger> debugger = LaunchDebugger::Create(debug, memory.get(), reports.print);
  return std::unique_ptr<MeasureSession>(new MeasureSession(
      std::move(opened.device), std::move(memory), std::move(opened.sampler), std::move(debugger), std::move(reports)));
}

void MeasureSession::Fail(std::string_view phase, const absl::Status& status, wire::Outcome* outcome) {
  *outcome->mutable_failure() = MakeFailure(phase, status);
}

absl::StatusOr<std::unique_ptr<LoadedConfig>> MeasureSession::Load(const wire::Config& config) {
  std::unique_ptr<LoadedConfig> loaded = std::move(loaded_next_);
  if (loaded != nullptr && next_ == LoadKey(config)) return loaded;
  loaded.reset();
  return LoadedConfig::Load(device_.get(), *memory_, config);
}

absl::Duration MeasureSession::LoadNext(const wire::Config& next) {
  const SteadyTime begin = SteadyNow();
  reports_.loads_next();
  absl::StatusOr<std::unique_ptr<LoadedConfig>> loaded = LoadedConfig::Load(device_.get(), *memory_, next);
  if (loaded.ok()) {
    loaded_next_ = *std::move(loaded);
    next_ = LoadKey(next);
  }
  return ElapsedSince(begin);
}

absl::Status MeasureSession::RunOnce(LoadedConfig& loaded, const wire::Config& config, int data_set,
                                     wire::Outcome* outcome, const wire::Config* next) {
  if (absl::Status status = memory_->Prepare(data_set); !status.ok()) {
    lost_ = true;
    Fail(kLoadPhase, status, outcome);
    return status;
  }
  if (debugger_ == nullptr) return LaunchAndWait(loaded, outcome, next);
  reports_.looks_at_values(kLoadPhase);
  debugger_->BeforeLaunch(config, data_set);
  absl::Status status = LaunchAndWait(loaded, outcome, /*next=*/nullptr);
  if (!status.ok()) return status;
  reports_.looks_at_values(kRunPhase);
  debugger_->AfterLaunch(config);
  return status;
}

absl::Status MeasureSession::LaunchAndWait(LoadedConfig& loaded, wire::Outcome* outcome, const wire::Config* next) {
  reports_.phase(kLaunchPhase);
  const absl::StatusOr<std::unique_ptr<device::Event>> begin = device_->Record();
  absl::Status status = begin.ok() ? loaded.Launch() : begin.status();
  const absl::StatusOr<std::unique_ptr<device::Event>> end = device_->Record();
  if (status.ok()) status = end.status();
  if (!status.ok()) {
    Fail(kLaunchPhase, status, outcome);
    return status;
  }
  const absl::Duration loading = next == nullptr ? absl::ZeroDuration() : LoadNext(*next);
  steps_.set_load_next_s(absl::ToDoubleSeconds(loading));
  reports_.phase(kRunPhase);
  status = device_->Synchronize();
  const absl::StatusOr<double> run_ms = status.ok() ? device_->ElapsedMs(**begin, **end) : status;
  run_ms_ = run_ms.value_or(0);
  if (!run_ms.ok()) Fail(kRunPhase, run_ms.status(), outcome);
  return run_ms.status();
}

absl::Status MeasureSession::Check(bool with_results, wire::Outcome* outcome) {
  reports_.phase(kCheckPhase);
  absl::StatusOr<CheckVerdict> verdict = memory_->Check(with_results);
  if (!verdict.ok()) {
    lost_ = true;
    Fail(kCheckPhase, verdict.status(), outcome);
    return verdict.status();
  }
  if (with_results) *outcome->mutable_check() = verdict->check;
  if (!verdict->failure.has_value()) return absl::OkStatus();
  *outcome->mutable_failure() = *std::move(verdict->failure);
  return absl::DataLossError(outcome->failure().message());
}

std::unique_ptr<LoadedConfig> MeasureSession::LoadChecked(const wire::Config& config, int data_set, bool with_results,
                                                          wire::Outcome* outcome, const wire::Config* next) {
  reports_.phase(kLoadPhase);
  SteadyTime begin = SteadyNow();
  absl::StatusOr<std::unique_ptr<LoadedConfig>> loaded = Load(config);
  steps_.set_load_s(Lap(&begin));
  if (!loaded.ok()) {
    Fail(kLoadPhase, loaded.status(), outcome);
    return nullptr;
  }
  *outcome->mutable_attributes() = (*loaded)->attributes();
  const bool ran = RunOnce(**loaded, config, data_set, outcome, next).ok();
  steps_.set_run_s(Lap(&begin));
  if (!ran) return nullptr;
  const bool is_right = Check(with_results, outcome).ok();
  steps_.set_check_s(Lap(&begin));
  if (is_right) return *std::move(loaded);
  if (debugger_ != nullptr) debugger_->AddFirstNan(outcome->mutable_failure());
  return nullptr;
}

absl::StatusOr<std::vector<Sample>> MeasureSession::Take(absl::Span<const Sampler::Launch> launches,
                                                         Sampler::Caches caches) {
  reports_.phase(kRunPhase);
  absl::StatusOr<std::vector<Sample>> samples = sampler_->Take(launches, caches);
  if (samples.ok()) watch_.Learn(*samples);
  return samples;
}

bool MeasureSession::FirstRunCounts(const wire::Effort& effort) const {
  return !effort.exact() && device_->properties().dialect == device::Dialect::kCuda;
}

bool MeasureSession::WasSlow(const wire::Effort& effort, wire::Outcome* outcome) const {
  constexpr double kLongestReadingMs = 1;  // of the code, in the first run
  if (!FirstRunCounts(effort) || run_ms_ <= 2 * effort.give_up_above_ms() + kLongestReadingMs) return false;
  DescribeSamples({{.ms = run_ms_}}, outcome);
  outcome->clear_perf_ms();
  outcome->set_gave_up(true);
  return true;
}

absl::Status MeasureSession::TakeSeries(LoadedConfig& config, const wire::Effort& effort, wire::Outcome* outcome) {
  // In OpenCL the first run compiles the code, and exact and warm samples need a run before the first. A warm-up
  // replaces the first run then, without a flush of the caches, which takes longer than the kernel on processors.
  std::vector<Sample> warm_up;
  if (!FirstRunCounts(effort) || effort.warm()) {
    ASSIGN_OR_RETURN(warm_up, Take({MakeLaunch(config)}, Sampler::Caches::kWarm));
  }
  SampleSeries series(effort, warm_up.empty() ? run_ms_ : warm_up.front().ms);
  const bool is_hopeless = !warm_up.empty() && warm_up.front().ms > 2 * effort.give_up_above_ms();
  if (is_hopeless && !effort.exact()) series.Add(warm_up, watch_);  // as the only sample
  const SteadyTime begin = SteadyNow();
  while (true) {
    const int batch = series.Next(ElapsedSince(begin));
    if (batch == 0) break;
    const std::vector<Sampler::Launch> launches(static_cast<size_t>(batch), MakeLaunch(config));
    ASSIGN_OR_RETURN(const std::vector<Sample> samples, Take(launches, CachesFor(effort)));
    series.Add(samples, watch_);
  }
  series.Describe(outcome);
  return absl::OkStatus();
}

wire::Outcomes MeasureSession::Measure(const wire::Config& config, const wire::Config* next) {
  wire::Outcomes outcomes;
  wire::Outcome* outcome = outcomes.add_outcomes();
  const int data_set = config.on_last_data_set() ? memory_->data_set_count() - 1 : 0;
  steps_.Clear();
  if (std::unique_ptr<LoadedConfig> loaded = LoadChecked(config, data_set, /*with_results=*/true, outcome, next);
      loaded != nullptr) {
    // A config that was slow and right gets no samples.
    const bool is_sampled = !WasSlow(config.effort(), outcome);
    SteadyTime begin = SteadyNow();
    absl::Status status = is_sampled ? TakeSeries(*loaded, config.effort(), outcome) : absl::OkStatus();
    steps_.set_sample_s(Lap(&begin));
    if (!status.ok()) {
      Fail(kRunPhase, status, outcome);
    } else if (is_sampled) {
      // A config that is right once may be wrong at times, so the results of the last run are checked too.
      Check(!memory_->reads_what_it_writes(), outcome).IgnoreError();
    }
    steps_.set_check_s(steps_.check_s() + Lap(&begin));
    if (outcome->has_failure()) outcome->clear_perf_ms();
  }
  *outcome->mutable_steps() = steps_;
  outcomes.set_ends(DeviceIsLost());
  return outcomes;
}

wire::Outcomes MeasureSession::Evaluate(const wire::Config& config) {
  wire::Outcomes outcomes;
  LoadChecked(config, /*data_set=*/0, /*with_results=*/false, outcomes.add_outcomes());
  outcomes.set_ends(DeviceIsLost());
  return outcomes;
}

std::string MeasureSession::Read(const wire::Read& request) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  if (request.buffer() < 0 || request.buffer() >= memory_->buffer_count() || request.size() > kMostBytes) return "";
  std::string contents(request.size(), '\0');
  const absl::Span<std::byte> to(reinterpret_cast<std::byte*>(contents.data()), contents.size());
  return device_->Download(memory_->buffer(request.buffer()), request.offset(), to).ok() ? contents : "";
}

absl::Status MeasureSession::TakeRounds(const std::vector<std::unique_ptr<LoadedConfig>>& configs,
                                        const wire::Final& request, wire::Outcomes* outcomes) {
  std::vector<Sampler::Launch> round;
  std::vector<int> of_outcome;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (configs[i] == nullptr) continue;
    round.push_back(MakeLaunch(*configs[i]));
    of_outcome.push_back(static_cast<int>(i));
  }
  if (round.empty()) return absl::OkStatus();
  const Sampler::Caches caches =
      request.configs().empty() ? Sampler::Caches::kFlushed : CachesFor(request.configs(0).effort());
  RETURN_IF_ERROR(Take(round, caches).status());  // warm-up
  RoundSeries series(round.size(), request.rounds());
  const SteadyTime end = request.has_limit_s() ? SteadyAfter(absl::Seconds(request.limit_s())) : kNever;
  absl::Duration took;
  for (int next = series.Next(); next > 0; next = series.Next()) {
    absl::SleepFor(std::min(series.Rest(took), TimeUntil(end)));
    std::vector<Sampler::Launch> launches;
    for (int i = 0; i < next; ++i) launches.insert(launches.end(), round.begin(), round.end());
    const SteadyTime begin = SteadyNow();
    ASSIGN_OR_RETURN(const std::vector<Sample> samples, Take(launches, caches));
    series.Add(samples, watch_);
    took = ElapsedSince(begin);
    reports_.rounds(series.rounds());
    if (SteadyNow() >= end && series.rounds() >= FinalEffort::kLeastRounds) break;
  }
  for (size_t i = 0; i < round.size(); ++i) series.Describe(i, outcomes->mutable_outcomes(of_outcome[i]));
  return absl::OkStatus();
}

wire::Outcomes MeasureSession::MeasureFinal(const wire::Final& request) {
  wire::Outcomes outcomes;
  std::vector<std::unique_ptr<LoadedConfig>> configs;
  for (const wire::Config& config : request.configs()) {
    configs.push_back(
        LoadChecked(config, memory_->data_set_count() - 1, /*with_results=*/true, outcomes.add_outcomes()));
    if (outcomes.outcomes().rbegin()->has_failure() && DeviceIsLost()) break;
  }
  const bool is_whole = !DeviceIsLost() && TakeRounds(configs, request, &outcomes).ok() && !DeviceIsLost();
  if (is_whole) return outcomes;
  outcomes.clear_outcomes();
  outcomes.set_ends(true);
  return outcomes;
}

}  // namespace telemetry::worker::tune::measure
