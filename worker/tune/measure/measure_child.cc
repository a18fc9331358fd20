#include "worker/tune/measure/measure_child.h"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "worker/tune/measure/failures.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/measure_session.h"
#include "worker/tune/process/parent_connection.h"

namespace telemetry::worker::tune::measure {
namespace {

class MeasureChild {
 public:
  explicit MeasureChild(process::ParentConnection* parent) : parent_(parent) {}

  // Serves requests until the parent closes the connection (OK) or the work ends.
  absl::Status Serve() {
    bool goes_on = true;
    while (goes_on) {
      wire::Request request;
      std::vector<process::OwnedFd> fds;
      absl::Status status = parent_->Receive(&request, &fds);
      if (absl::IsUnavailable(status)) return absl::OkStatus();
      if (!status.ok()) return status;
      if (request.has_open()) {
        opened_ = OpenedDevice::Open(request.open(), StepTimer());
        continue;
      }
      wire::Reply reply;
      goes_on = request.has_setup() ? SetUp(request.setup(), std::move(fds), &reply) : Measure(request, &reply);
      RETURN_IF_ERROR(parent_->Send(reply));
    }
    return absl::OkStatus();
  }

 private:
  process::StepReport StepTimer() {
    return [this](std::string_view name, std::string_view /*config*/, SteadyTime begin, SteadyTime end) {
      wire::StartStep* step = steps_.Add();
      step->set_name(std::string(name));
      step->set_begin_ns(begin.time_since_epoch().count());
      step->set_end_ns(end.time_since_epoch().count());
    };
  }

  absl::Status Open(const wire::Setup& setup, std::vector<process::OwnedFd> fds) {
    if (fds.size() != 1) return absl::InvalidArgumentError("a setup needs one descriptor, the problem's data");
    ASSIGN_OR_RETURN(process::SharedBytes data, process::SharedBytes::Open(std::move(fds[0])));
    const auto report = [this](std::string_view phase, bool looks_at_values, int rounds = 0, bool of_next = false) {
      wire::Reply reply;
      reply.mutable_progress()->set_phase(std::string(phase));
      reply.mutable_progress()->set_looks_at_values(looks_at_values);
      reply.mutable_progress()->set_rounds(rounds);
      reply.mutable_progress()->set_of_next(of_next);
      parent_->Send(reply).IgnoreError();  // the next Receive notices a closed connection
    };
    MeasureSession::Reports reports = {
        .phase = [report](std::string_view phase) { report(phase, false); },
        .loads_next = [report] { report(kLoadPhase, false, 0, /*of_next=*/true); },
        .looks_at_values = [report](std::string_view phase) { report(phase, true); },
        .rounds = [report](int rounds) { report(kRunPhase, false, rounds); },
        .print =
            [this](std::string_view text) {
              wire::Reply reply;
              reply.set_printed(std::string(text));
              parent_->Send(reply).IgnoreError();
            },
    };
    if (!opened_.has_value()) opened_ = OpenedDevice::Open(setup.device(), StepTimer());
    ASSIGN_OR_RETURN(OpenedDevice opened, *std::move(opened_));
    ASSIGN_OR_RETURN(session_,
                     MeasureSession::Open(std::move(opened), setup, std::move(data), std::move(reports), StepTimer()));
    return absl::OkStatus();
  }

  bool SetUp(const wire::Setup& setup, std::vector<process::OwnedFd> fds, wire::Reply* reply) {
    const absl::Status status = Open(setup, std::move(fds));
    if (status.ok()) {
      std::swap(*reply->mutable_ready()->mutable_steps(), steps_);
      return true;
    }
    Refuse(status, reply);
    return false;
  }

  static void Refuse(const absl::Status& status, wire::Reply* reply) {
    reply->mutable_refused()->set_code(status.raw_code());
    reply->mutable_refused()->set_message(std::string(status.message()));
  }

  bool TakeExpected(wire::Reply* reply) {
    const absl::Status status =
        session_ == nullptr ? absl::FailedPreconditionError("no problem was set up") : session_->TakeExpected();
    if (status.ok()) {
      reply->mutable_ready();
    } else {
      Refuse(status, reply);
    }
    return status.ok();
  }

  bool Measure(const wire::Request& request, wire::Reply* reply) {
    if (request.has_read()) {
      reply->set_contents(session_ == nullptr ? "" : session_->Read(request.read()));
      return true;
    }
    if (request.has_take_expected()) return TakeExpected(reply);
    wire::Outcomes* outcomes = reply->mutable_outcomes();
    if (session_ == nullptr) {
      outcomes->set_ends(true);
    } else {
      *outcomes = request.has_final() ? session_->MeasureFinal(request.final())
                  : request.has_evaluate()
                      ? session_->Evaluate(request.evaluate())
                      : session_->Measure(request.config(), request.has_next() ? &request.next() : nullptr);
    }
    return !outcomes->ends();
  }

  process::ParentConnection* const parent_;
  google::protobuf::RepeatedPtrField<wire::StartStep> steps_;
  std::optional<absl::StatusOr<OpenedDevice>> opened_;  // before the problem is set up
  std::unique_ptr<MeasureSession> session_;
};

}  // namespace

absl::Status RunMeasureChild() {
  // Writing a file beyond the size limit must be an error for the code that saves values, not the end of this process.
  std::signal(SIGXFSZ, SIG_IGN);
  ASSIGN_OR_RETURN(std::unique_ptr<process::ParentConnection> parent, process::ParentConnection::Open());
  const absl::Status status = MeasureChild(parent.get()).Serve();
  if (!status.ok()) std::cerr << "tune-child measure: " << status.message() << std::endl;
  // Skips the destructors: after a kernel broke the device, its driver may wait forever when the device is released.
  _exit(status.ok() ? 0 : 1);
}

}  // namespace telemetry::worker::tune::measure
