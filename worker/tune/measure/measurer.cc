#include "worker/tune/measure/measurer.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/measure/wire_format.h"

namespace telemetry::worker::tune::measure {
namespace {

using record::Cat;

// The size of one answer to Read, well below the limit of a message.
constexpr size_t kReadBytes = 1 << 20;

PhaseLimits ToPhaseLimits(const MeasureRequest& request) {
  return {.load = request.load_limit, .run = request.run_limit};
}

// Returns the limits of a batch, which is one run of each request.
PhaseLimits ToPhaseLimits(absl::Span<const MeasureRequest> requests) {
  PhaseLimits limits = {.load = absl::ZeroDuration(), .run = absl::ZeroDuration()};
  for (const MeasureRequest& request : requests) {
    limits.load = std::max(limits.load, request.load_limit);
    limits.run += request.run_limit;
  }
  return limits;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Measurer>> Measurer::Start(const MeasureProblem& problem, MeasurerOptions options,
                                                          std::unique_ptr<MeasuringProcess> opening) {
  absl::StatusOr<ProblemImage> image;
  {
    const process::ReportedStep step(options.on_step, "image");
    image = MakeImage(problem, options.device);
    RETURN_IF_ERROR(image.status());
  }
  auto measurer =
      std::unique_ptr<Measurer>(new Measurer(*std::move(image), problem.last, std::move(options), std::move(opening)));
  if (!problem.baselines.empty()) {
    RETURN_IF_ERROR(measurer->ChooseBaseline(problem.baselines));
    return measurer;
  }
  {
    const process::ReportedStep step(measurer->options_.on_step, "problem");
    RETURN_IF_ERROR(measurer->StandBy());
    RETURN_IF_ERROR(measurer->Activate());
  }
  if (problem.reference.has_value()) {
    RETURN_IF_ERROR(measurer->CheckRequest(*problem.reference));
    RETURN_IF_ERROR(measurer->RunReference(*problem.reference));
  }
  RETURN_IF_ERROR(measurer->Ready().status());
  return measurer;
}

absl::Status Measurer::ChooseBaseline(const std::vector<MeasureRequest>& baselines) {
  std::string errors;
  for (const MeasureRequest& baseline : baselines) {
    RETURN_IF_ERROR(CheckRequest(baseline));
    *image_.setup.mutable_baseline() = ToWire(baseline);
    RETURN_IF_ERROR(StandBy());
    absl::Status status = Ready().status();
    if (status.ok()) return status;
    // A process that ends or hangs is UNAVAILABLE.
    if (!absl::IsFailedPrecondition(status) && !absl::IsUnavailable(status)) return status;
    errors += Cat("\n", baseline.label, ": ", std::string(status.message()));
  }
  return absl::FailedPreconditionError(Cat("no baseline gives the results of the reference:", errors));
}

absl::Status Measurer::StandBy() {
  std::unique_ptr<MeasuringProcess> process = std::move(opening_);
  if (process == nullptr) {
    absl::StatusOr<std::unique_ptr<MeasuringProcess>> started = MeasuringProcess::Start(options_);
    if (!started.ok()) return absl::UnavailableError(started.status().message());
    process = *std::move(started);
  }
  RETURN_IF_ERROR(process->SetUp(image_));
  standby_ = std::move(process);
  return absl::OkStatus();
}

absl::Status Measurer::Activate() {
  if (active_ != nullptr) return absl::OkStatus();
  if (standby_ == nullptr) {
    RETURN_IF_ERROR(StandBy());
  }
  active_ = std::move(standby_);
  absl::Status status = active_->AwaitReady();
  if (!status.ok()) Retire();
  return status;
}

absl::StatusOr<MeasuringProcess*> Measurer::Ready() {
  absl::Status status = Activate();
  // The standby process may have failed like the one before it: an error of the GPU ends all of its processes.
  if (!status.ok() && was_ready_) status = Activate();
  if (!status.ok()) return status;
  was_ready_ = true;
  // A failure to start the standby process is reported when the process is needed.
  if (standby_ == nullptr) StandBy().IgnoreError();
  return active_.get();
}

void Measurer::Retire() {
  const auto has_ended = [](const std::unique_ptr<MeasuringProcess>& process) { return !process->IsRunning(); };
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(), has_ended), retired_.end());
  active_->Interrupt();
  retired_.push_back(std::move(active_));
}

absl::Status Measurer::AwaitLast() {
  if (!last_.valid()) return absl::OkStatus();
  const process::ReportedStep step(options_.on_step, "await last data");
  RETURN_IF_ERROR(last_.get().status());
  RETURN_IF_ERROR(SetLast(*last_.get(), &image_));
  last_ = {};
  return absl::OkStatus();
}

absl::Status Measurer::CheckRequest(const MeasureRequest& request) const {
  if (request.code == nullptr) return absl::InvalidArgumentError("a request to measure has no code");
  for (const RequestArgument& argument : request.arguments) {
    const auto* buffer = std::get_if<BufferIndex>(&argument);
    if (buffer == nullptr || (buffer->index >= 0 && buffer->index < image_.setup.buffers_size())) continue;
    return absl::InvalidArgumentError(Cat("a request to measure '", request.function, "' uses buffer ", buffer->index,
                                          ", but the problem's number of buffers is ", image_.setup.buffers_size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<wire::Outcome> Measurer::MeasureOn(const MeasureRequest& request, bool last_data_set,
                                                  const MeasureRequest* next) {
  RETURN_IF_ERROR(CheckRequest(request));
  const absl::StatusOr<MeasuringProcess*> process = Ready();
  if (!process.ok()) return absl::UnavailableError(process.status().message());
  wire::Request message;
  *message.mutable_config() = ToWire(request);
  message.mutable_config()->set_on_last_data_set(last_data_set);
  PhaseLimits limits = ToPhaseLimits(request);
  if (next != nullptr && CheckRequest(*next).ok()) {
    *message.mutable_next() = ToWire(*next);
    limits.load_next = next->load_limit;
  }
  Answer answer = (*process)->Ask(message, limits);
  if (!answer.outcomes.has_value()) {
    Retire();
    if (answer.ended_in_next) return MeasureOn(request, last_data_set);
    wire::Outcome outcome;
    *outcome.mutable_failure() = std::move(answer.ended);
    return outcome;
  }
  if (answer.outcomes->ends()) Retire();
  if (answer.outcomes->outcomes_size() == 1) return std::move(*answer.outcomes->mutable_outcomes(0));
  return absl::UnavailableError("the measuring process was not ready for a request");
}

absl::StatusOr<wire::Outcome> Measurer::Measure(const MeasureRequest& request, const MeasureRequest* next) {
  return MeasureOn(request, /*last_data_set=*/false, next);
}

absl::Status Measurer::ReadExpected(int index, const PhaseLimits& limits) {
  const wire::Buffer& buffer = image_.setup.buffers(index);
  const size_t element = SizeOf(static_cast<device::DType>(buffer.dtype()));
  const size_t bytes = buffer.elements() * element;
  for (size_t offset = 0; offset < bytes; offset += kReadBytes) {
    wire::Request message;
    message.mutable_read()->set_buffer(index);
    message.mutable_read()->set_offset(offset);
    message.mutable_read()->set_size(std::min(kReadBytes, bytes - offset));
    ASSIGN_OR_RETURN(const std::string part, active_->Read(message, limits));
    const auto* from = reinterpret_cast<const std::byte*>(part.data());
    SetExpected(index, offset / element, {from, part.size()}, &image_);
  }
  return absl::OkStatus();
}

absl::Status Measurer::RunReference(const MeasureRequest& reference) {
  const process::ReportedStep step(options_.on_step, "reference run");
  const PhaseLimits limits = ToPhaseLimits(reference);
  wire::Request message;
  *message.mutable_evaluate() = ToWire(reference);
  const Answer answer = active_->Ask(message, limits);
  const bool has_outcome = answer.outcomes.has_value() && answer.outcomes->outcomes_size() == 1;
  const wire::Failure failure = has_outcome ? answer.outcomes->outcomes(0).failure() : answer.ended;
  if (!has_outcome || answer.outcomes->outcomes(0).has_failure()) {
    return absl::FailedPreconditionError(Cat("the reference of the verification failed: ", failure.phase(), ": ",
                                             failure.error_class(), ": ", failure.message()));
  }
  for (int i = 0; i < image_.setup.buffers_size(); ++i) {
    if (!image_.setup.buffers(i).written()) continue;
    RETURN_IF_ERROR(ReadExpected(i, limits));
  }
  return active_->TakeExpected(limits);
}

absl::StatusOr<std::optional<std::vector<wire::Outcome>>> Measurer::TakeTurns(absl::Span<const MeasureRequest> requests,
                                                                              const FinalEffort& effort) {
  const absl::StatusOr<MeasuringProcess*> process = Ready();
  if (!process.ok()) return absl::UnavailableError(process.status().message());
  // A process that is still starting would disturb the final.
  if (standby_ != nullptr && !standby_->AwaitReady().ok()) standby_ = nullptr;
  wire::Request message;
  message.mutable_final()->set_rounds(effort.rounds);
  if (effort.limit < absl::InfiniteDuration())
    message.mutable_final()->set_limit_s(absl::ToDoubleSeconds(effort.limit));
  for (const MeasureRequest& request : requests) *message.mutable_final()->add_configs() = ToWire(request);
  const Answer answer = (*process)->Ask(message, ToPhaseLimits(requests), effort.on_rounds);
  if (!answer.outcomes.has_value() || answer.outcomes->ends()) {
    Retire();
    return std::nullopt;
  }
  const auto& outcomes = answer.outcomes->outcomes();
  return std::vector<wire::Outcome>(outcomes.begin(), outcomes.end());
}

absl::StatusOr<FinalOutcome> Measurer::MeasureInterleaved(absl::Span<const MeasureRequest> requests,
                                                          const FinalEffort& effort) {
  for (const MeasureRequest& request : requests) {
    RETURN_IF_ERROR(CheckRequest(request));
  }
  RETURN_IF_ERROR(AwaitLast());
  absl::StatusOr<std::optional<std::vector<wire::Outcome>>> turns = TakeTurns(requests, effort);
  if (!turns.ok()) return turns.status();
  if (turns->has_value()) return CompareOutcomes(**std::move(turns), /*interleaved=*/true);
  // One config crashed the process; measure each alone to find it.
  std::vector<wire::Outcome> alone;
  std::vector<MeasureRequest> right;
  for (const MeasureRequest& request : requests) {
    ASSIGN_OR_RETURN(wire::Outcome outcome, MeasureOn(request, /*last_data_set=*/true));
    if (!outcome.has_failure()) right.push_back(request);
    alone.push_back(std::move(outcome));
  }
  turns = TakeTurns(right, effort);
  if (!turns.ok()) return turns.status();
  if (!turns->has_value()) return CompareOutcomes(std::move(alone), /*interleaved=*/false);
  auto next = (*turns)->begin();
  for (wire::Outcome& outcome : alone) {
    if (!outcome.has_failure()) outcome = std::move(*next++);
  }
  return CompareOutcomes(std::move(alone), /*interleaved=*/true);
}

}  // namespace telemetry::worker::tune::measure
