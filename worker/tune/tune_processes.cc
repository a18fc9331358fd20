#include "worker/tune/tune_processes.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"

namespace telemetry::worker::tune {

absl::StatusOr<std::unique_ptr<TuneProcesses>> TuneProcesses::Create(const TuneSubject& subject,
                                                                     TuneProcessOptions options) {
  std::shared_ptr<compile::CompilePool> pool = options.pool;
  if (pool == nullptr) {
    ASSIGN_OR_RETURN(pool, compile::CompilePool::Create(options.compile));
  }
  return std::unique_ptr<TuneProcesses>(new TuneProcesses(subject, std::move(options), std::move(pool)));
}

TuneProcesses::TuneProcesses(const TuneSubject& subject, TuneProcessOptions options,
                             std::shared_ptr<compile::CompilePool> pool)
    : subject_(subject),
      options_(std::move(options)),
      pool_(std::move(pool)),
      queue_(pool_.get(), subject_.kernel->device().get()),
      starting_(std::async(std::launch::async, [this]() -> absl::StatusOr<Started> {
        // The process opens the device while the inputs are made. An error is reported by Measurer::Start.
        std::unique_ptr<measure::MeasuringProcess> opening =
            options_.opening == nullptr ? nullptr : options_.opening->Take();
        if (opening == nullptr) opening = measure::OpeningProcess::Start(options_.measure)->Take();
        ASSIGN_OR_RETURN(const measure::MeasureProblem problem, subject_.measure_problem(pool_.get()));
        Started started;
        ASSIGN_OR_RETURN(started.measurer, measure::Measurer::Start(problem, options_.measure, std::move(opening)));
        started.at = SteadyNow();
        return started;
      })) {}

void TuneProcesses::CancelCompiling() {
  queue_.DropWaiting();
  pool_->Cancel();
  while (queue_.under_way() > 0) queue_.Next(absl::InfiniteDuration());
}

absl::StatusOr<measure::Measurer*> TuneProcesses::ReadyMeasurer() {
  if (measurer_ == nullptr) {
    if (!starting_.valid()) return absl::UnavailableError("the measuring process could not be started");
    ASSIGN_OR_RETURN(Started started, starting_.get());
    preparing_ = absl::FromChrono(started.at - began_);
    measurer_ = std::move(started.measurer);
  }
  return measurer_.get();
}

absl::StatusOr<measure::MeasureRequest> TuneProcesses::RequestFor(const CompiledCandidate& compiled) const {
  ASSIGN_OR_RETURN(measure::MeasureRequest request,
                   subject_.kernel->MakeRequest(compiled.candidate->config, compiled.candidate->generated,
                                                std::make_shared<const device::CompiledCode>(*compiled.result.code)));
  request.label = compiled.candidate->config.ToString();
  request.effort = options_.effort;
  request.load_limit = options_.load_limit;
  request.run_limit = options_.run_limit;
  return request;
}

absl::StatusOr<measure::wire::Outcome> TuneProcesses::Measure(const CompiledCandidate& compiled,
                                                              double give_up_above_ms, double far_above_ms,
                                                              const std::optional<CompiledCandidate>& next) {
  ASSIGN_OR_RETURN(measure::MeasureRequest request, RequestFor(compiled));
  request.effort.give_up_above_ms = give_up_above_ms;
  request.effort.far_above_ms = far_above_ms;
  absl::StatusOr<measure::MeasureRequest> next_request = absl::NotFoundError("no next candidate");
  if (next && next->result.code.ok()) next_request = RequestFor(*next);
  ASSIGN_OR_RETURN(measure::Measurer * measurer, ReadyMeasurer());
  const SteadyTime begin = SteadyNow();
  const absl::Cleanup count = [&] { measuring_ += ElapsedSince(begin); };
  ASSIGN_OR_RETURN(measure::wire::Outcome outcome,
                   measurer->Measure(request, next_request.ok() ? &*next_request : nullptr));
  ReportSteps(compiled, outcome.steps(), begin, next);
  return outcome;
}

void TuneProcesses::ReportSteps(const CompiledCandidate& compiled, const measure::wire::Steps& steps, SteadyTime begin,
                                const std::optional<CompiledCandidate>& next) const {
  const process::StepReport& report = options_.measure.on_step;
  if (!report) return;
  const std::string config = compiled.candidate->config.ToString();
  const auto after = [](SteadyTime time, double seconds) {
    return time + absl::ToChronoNanoseconds(absl::Seconds(seconds));
  };
  const bool compiled_now = !compiled.result.deduplicated && !compiled.result.from_folder;
  report("compile", config, after(compiled.ended, compiled_now ? -compiled.result.seconds : 0), compiled.ended);
  report("wait", config, compiled.ended, begin);
  // The process does not report the time of messages, which goes to the last step.
  const SteadyTime loaded = after(begin, steps.load_s());
  const SteadyTime ran = after(loaded, steps.run_s());
  const SteadyTime checked = after(ran, steps.check_s());
  report("load", config, begin, loaded);
  report("run", config, loaded, ran);
  if (next && steps.load_next_s() > 0) {
    report("load ahead", next->candidate->config.ToString(), loaded, after(loaded, steps.load_next_s()));
  }
  report("check", config, ran, checked);
  report("sample", config, checked, SteadyNow());
}

absl::StatusOr<measure::FinalOutcome> TuneProcesses::MeasureInterleaved(const std::vector<CompiledCandidate>& compiled,
                                                                        const measure::FinalEffort& effort) {
  std::vector<measure::MeasureRequest> requests;
  for (const CompiledCandidate& candidate : compiled) {
    ASSIGN_OR_RETURN(measure::MeasureRequest request, RequestFor(candidate));
    requests.push_back(std::move(request));
  }
  ASSIGN_OR_RETURN(measure::Measurer * measurer, ReadyMeasurer());
  const SteadyTime begin = SteadyNow();
  const absl::Cleanup count = [&] { measuring_ += ElapsedSince(begin); };
  return measurer->MeasureInterleaved(requests, effort);
}

}  // namespace telemetry::worker::tune
