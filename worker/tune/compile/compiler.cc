#include "worker/tune/compile/compiler.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/tune/compile/compile_messages.pb.h"

namespace telemetry::worker::tune::compile {
namespace {

using Clock = std::chrono::steady_clock;

// Returns a description of the source with the hash that telemetry records.
std::string Which(const CompileJob& job) {
  return absl::StrCat("the source with SHA-256 ", record::Sha256Hex(job.source), " for ", job.target);
}

// Returns the error of a job whose compiler did not reply.
absl::Status Failure(const absl::Status& status, const CompileJob& job, absl::Duration time_limit) {
  if (absl::IsDeadlineExceeded(status)) {
    return absl::DeadlineExceededError(absl::StrCat("compiling took longer than the time limit of ",
                                                    absl::FormatDuration(time_limit), " and was killed: ", Which(job)));
  }
  if (absl::IsResourceExhausted(status)) {
    return absl::ResourceExhaustedError(absl::StrCat(status.message(), " while it compiled ", Which(job)));
  }
  if (absl::IsInvalidArgument(status)) return status;  // the source is too long to be sent
  return absl::InternalError(absl::StrCat(status.message(), "\nIt was compiling ", Which(job)));
}

CompileRequest MakeRequest(const CompileJob& job, const std::string& code_folder) {
  CompileRequest request;
  request.set_source(job.source);
  request.set_is_opencl(job.dialect == device::Dialect::kOpenCl);
  request.set_target(job.target);
  request.set_code_folder(code_folder);
  return request;
}

CompileResult ToCompileResult(CompileReply reply) {
  CompileResult result = {.seconds = reply.seconds(), .from_folder = reply.from_folder()};
  if (reply.code() == 0) {
    result.code = device::CompiledCode{.binary = std::move(*reply.mutable_binary()),
                                       .log = std::move(*reply.mutable_log()),
                                       .function = std::move(*reply.mutable_function())};
  } else {
    result.code = absl::Status(static_cast<absl::StatusCode>(reply.code()), reply.message());
  }
  return result;
}

}  // namespace

CompileResult Compiler::Compile(const CompileJob& job, absl::Duration time_limit, const std::atomic<bool>& cancelled,
                                const std::string& code_folder) {
  const absl::StatusOr<process::ChildProcess*> child = Child(cancelled);
  if (!child.ok()) return {.code = child.status()};
  const Clock::time_point begin = Clock::now();
  CompileResult result;
  const absl::Status status = Exchange(*child, MakeRequest(job, code_folder), time_limit, &result);
  if (status.ok()) return result;
  Discard();
  result.code = cancelled ? absl::CancelledError("compiling was cancelled") : Failure(status, job, time_limit);
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

absl::StatusOr<process::ChildProcess*> Compiler::Child(const std::atomic<bool>& cancelled) {
  absl::MutexLock lock(&mutex_);
  // Checked under the lock: an Interrupt either comes before this check or finds the process.
  if (cancelled) return absl::CancelledError("compiling was cancelled");
  // A process that died while idle must not fail the next job, nor one that has kept much memory of earlier jobs.
  if (child_ != nullptr && !interrupted_ && child_->IsRunning() && HasRoom(*child_)) return child_.get();
  child_.reset();
  interrupted_ = false;
  ASSIGN_OR_RETURN(std::unique_ptr<process::ChildProcess> child,
                   process::ChildProcess::Start({.program = options_.program, .role = "compile"}));
  child_ = std::move(child);
  child_->LimitMemory(options_.memory_limit_bytes);
  return child_.get();
}

bool Compiler::HasRoom(const process::ChildProcess& child) const {
  return options_.memory_limit_bytes == 0 || child.ResidentBytes() <= options_.memory_limit_bytes / 4;
}

absl::Status Compiler::Exchange(process::ChildProcess* child, const CompileRequest& request, absl::Duration time_limit,
                                CompileResult* result) {
  RETURN_IF_ERROR(child->Send(request, time_limit));
  CompileReply reply;
  RETURN_IF_ERROR(child->Receive(&reply, time_limit));
  *result = ToCompileResult(std::move(reply));
  return absl::OkStatus();
}

void Compiler::Interrupt() {
  absl::MutexLock lock(&mutex_);
  if (child_ == nullptr) return;
  interrupted_ = true;
  child_->Interrupt();
}

void Compiler::Discard() {
  std::unique_ptr<process::ChildProcess> child;  // destroyed after the lock is released, because that blocks
  absl::MutexLock lock(&mutex_);
  child = std::move(child_);
}

}  // namespace telemetry::worker::tune::compile
