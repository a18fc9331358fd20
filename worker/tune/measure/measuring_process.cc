#include "worker/tune/measure/measuring_process.h"

#include <iostream>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/tune/measure/failures.h"
#include "worker/tune/measure/wire_format.h"

namespace telemetry::worker::tune::measure {
namespace {

using record::Cat;

constexpr absl::Duration kSendLimit = absl::Seconds(30);
// For printing or saving the values of one launch. The files may be on a network file system.
constexpr absl::Duration kDebugLimit = absl::Minutes(10);

void ReportStart(const wire::Ready& ready, const process::StepReport& on_step) {
  const auto at = [](int64_t ns) { return SteadyTime(std::chrono::nanoseconds(ns)); };
  for (const wire::StartStep& step : ready.steps()) on_step(step.name(), "", at(step.begin_ns()), at(step.end_ns()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MeasuringProcess>> MeasuringProcess::Start(const MeasurerOptions& options) {
  process::ChildOptions child_options = {.role = "measure"};
  if (!options.program.empty()) child_options.program.path = options.program;
  ASSIGN_OR_RETURN(std::unique_ptr<process::ChildProcess> child, process::ChildProcess::Start(child_options));
  wire::Request request;
  request.set_open(options.device);
  if (absl::Status status = child->Send(request, kSendLimit); !status.ok()) {
    return absl::UnavailableError(status.message());
  }
  return std::unique_ptr<MeasuringProcess>(new MeasuringProcess(std::move(child), options));
}

absl::Status MeasuringProcess::SetUp(const ProblemImage& image) {
  wire::Request request;
  *request.mutable_setup() = image.setup;
  if (debug_.is_on()) *request.mutable_setup()->mutable_debug() = ToWire(debug_);
  ready_until_ = SteadyAfter(start_limit_);
  const absl::Status status = child_->Send(request, start_limit_, {image.data.fd()});
  return status.ok() ? status : absl::UnavailableError(status.message());
}

absl::Status MeasuringProcess::ReceiveReady(SteadyTime end) {
  wire::Reply reply;
  const absl::Status status = child_->Receive(&reply, TimeUntil(end));
  if (!status.ok()) {
    return absl::UnavailableError(Cat("the measuring process did not become ready: ", status.message()));
  }
  if (on_step_) ReportStart(reply.ready(), on_step_);
  if (!reply.has_refused()) return absl::OkStatus();
  return {static_cast<absl::StatusCode>(reply.refused().code()), record::AbslView(reply.refused().message())};
}

absl::Status MeasuringProcess::TakeExpected(const PhaseLimits& limits) {
  wire::Request request;
  request.mutable_take_expected();
  if (absl::Status status = child_->Send(request, kSendLimit); !status.ok()) {
    return absl::UnavailableError(status.message());
  }
  return ReceiveReady(SteadyAfter(limits.load));
}

absl::Status MeasuringProcess::AwaitReady() {
  if (is_ready_) return absl::OkStatus();
  RETURN_IF_ERROR(ReceiveReady(ready_until_));
  if (memory_limit_bytes_ > 0) child_->LimitMemory(child_->ResidentBytes() + memory_limit_bytes_);
  is_ready_ = true;
  return absl::OkStatus();
}

void MeasuringProcess::Print(const std::string& text) const {
  if (print_) return print_(text);
  std::cerr << text << "\n";
}

Answer MeasuringProcess::Ended(const std::string& phase, const absl::Status& status, absl::Duration limit) {
  Answer answer;
  answer.ended.set_phase(phase);
  if (absl::IsDeadlineExceeded(status)) {
    child_->Kill();
    answer.ended.set_error_class("Hang");
    answer.ended.set_code("DEADLINE_EXCEEDED");
    answer.ended.set_message(Cat("exceeded the time limit of ", absl::FormatDuration(limit), " of phase ", phase,
                                 "; the process was killed"));
  } else if (absl::IsResourceExhausted(status)) {
    answer.ended.set_error_class("OutOfMemory");
    answer.ended.set_code("RESOURCE_EXHAUSTED");
    answer.ended.set_message(Cat(std::string(status.message()), "; its limit is the problem's memory and ",
                                 memory_limit_bytes_ >> 20, " MiB"));
  } else {
    const process::ChildEnding ending = child_->ending().value_or(process::ChildEnding());
    answer.ended.set_error_class("Crash");
    answer.ended.set_code(ending.signal != 0 ? ending.SignalName() : Cat("EXIT_", ending.exit_status));
    answer.ended.set_message(std::string(status.message()));
  }
  answer.ended.set_log(child_->printed());
  return answer;
}

Answer MeasuringProcess::Ask(const wire::Request& request, const PhaseLimits& limits,
                             const std::function<void(int rounds)>& on_rounds) {
  child_->ForgetPrinted();
  std::string phase = kLoadPhase;
  absl::Duration limit = limits.load;
  bool is_of_next = false;
  absl::Status status = child_->Send(request, kSendLimit);
  while (status.ok()) {
    wire::Reply reply;
    status = child_->Receive(&reply, limit);
    if (!status.ok()) break;
    if (reply.has_outcomes()) return {.outcomes = std::move(*reply.mutable_outcomes())};
    if (reply.has_printed()) Print(reply.printed());
    if (!reply.has_progress()) continue;
    if (on_rounds && reply.progress().rounds() > 0) on_rounds(reply.progress().rounds());
    phase = reply.progress().phase();
    is_of_next = reply.progress().of_next();
    limit = phase == kLoadPhase || phase == kLaunchPhase ? limits.load : limits.run;
    if (is_of_next) limit = limits.load_next;
    if (reply.progress().looks_at_values()) limit = kDebugLimit;
  }
  Answer answer = Ended(phase, status, limit);
  answer.ended_in_next = is_of_next;
  return answer;
}

absl::StatusOr<std::string> MeasuringProcess::Read(const wire::Request& request, const PhaseLimits& limits) {
  RETURN_IF_ERROR(child_->Send(request, kSendLimit));
  wire::Reply reply;
  RETURN_IF_ERROR(child_->Receive(&reply, limits.load));
  if (reply.contents().size() == request.read().size()) return std::move(*reply.mutable_contents());
  return absl::InternalError(Cat("the contents of buffer ", request.read().buffer(), " cannot be read"));
}

std::shared_ptr<OpeningProcess> OpeningProcess::Start(const MeasurerOptions& options) {
  auto opening = std::make_shared<OpeningProcess>();
  absl::StatusOr<std::unique_ptr<MeasuringProcess>> started = MeasuringProcess::Start(options);
  absl::MutexLock lock(&opening->mutex_);
  if (started.ok()) opening->process_ = *std::move(started);
  return opening;
}

std::unique_ptr<MeasuringProcess> OpeningProcess::Take() {
  absl::MutexLock lock(&mutex_);
  return std::move(process_);
}

}  // namespace telemetry::worker::tune::measure
