#include "worker/tune/workbench.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "proto/clock/steady.h"
#include "worker/tune/measure/kernel_problem.h"

namespace telemetry::worker::tune {

absl::StatusOr<std::unique_ptr<Workbench>> Workbench::Create(const TuneSubject& subject, WorkbenchOptions options) {
  absl::StatusOr<std::unique_ptr<CompilePool>> pool = CompilePool::Create(options.compile);
  if (!pool.ok()) return pool.status();
  return std::unique_ptr<Workbench>(new Workbench(subject, std::move(options), *std::move(pool)));
}

Workbench::Workbench(const TuneSubject& subject, WorkbenchOptions options, std::unique_ptr<CompilePool> pool)
    : subject_(subject),
      options_(std::move(options)),
      pool_(std::move(pool)),
      queue_(pool_.get(), subject_.kernel->device()->properties(), subject_.kernel->device()->id()),
      starting_(std::async(std::launch::async, [this]() -> absl::StatusOr<std::unique_ptr<Measurer>> {
        absl::StatusOr<MeasureProblem> problem = subject_.measure_problem();
        if (!problem.ok()) return problem.status();
        return Measurer::Start(*std::move(problem), options_.measure);
      })) {}

void Workbench::CancelCompiling() {
  pool_->Cancel();
  while (queue_.under_way() > 0) queue_.Next(absl::InfiniteDuration());
}

absl::StatusOr<Measurer*> Workbench::ReadyMeasurer() {
  if (measurer_ == nullptr) {
    if (!starting_.valid()) return absl::UnavailableError("the measuring process could not be started");
    absl::StatusOr<std::unique_ptr<Measurer>> started = starting_.get();
    if (!started.ok()) return started.status();
    measurer_ = *std::move(started);
  }
  return measurer_.get();
}

absl::StatusOr<MeasureRequest> Workbench::RequestFor(const CompiledCandidate& compiled) const {
  absl::StatusOr<MeasureRequest> request =
      RequestOf(*subject_.kernel, compiled.candidate->generated, subject_.arguments,
                std::make_shared<const CompiledCode>(*compiled.result.code));
  if (!request.ok()) return request.status();
  request->label = compiled.candidate->config.ToString();
  request->effort = options_.effort;
  request->load_limit = options_.load_limit;
  request->run_limit = options_.run_limit;
  return request;
}

absl::StatusOr<MeasureOutcome> Workbench::Measure(const CompiledCandidate& compiled, double give_up_above_ms) {
  absl::StatusOr<MeasureRequest> request = RequestFor(compiled);
  if (!request.ok()) return request.status();
  request->effort.give_up_above_ms = give_up_above_ms;
  absl::StatusOr<Measurer*> measurer = ReadyMeasurer();
  if (!measurer.ok()) return measurer.status();
  const SteadyTime begin = SteadyNow();
  const absl::Cleanup count = [&] { measuring_ += ElapsedSince(begin); };
  return (*measurer)->Measure(*request);
}

absl::StatusOr<FinalOutcome> Workbench::MeasureInterleaved(const std::vector<CompiledCandidate>& compiled,
                                                           const FinalEffort& effort) {
  std::vector<MeasureRequest> requests;
  for (const CompiledCandidate& candidate : compiled) {
    absl::StatusOr<MeasureRequest> request = RequestFor(candidate);
    if (!request.ok()) return request.status();
    requests.push_back(*std::move(request));
  }
  absl::StatusOr<Measurer*> measurer = ReadyMeasurer();
  if (!measurer.ok()) return measurer.status();
  const SteadyTime begin = SteadyNow();
  const absl::Cleanup count = [&] { measuring_ += ElapsedSince(begin); };
  return (*measurer)->MeasureInterleaved(requests, effort);
}

}  // namespace telemetry::worker::tune
