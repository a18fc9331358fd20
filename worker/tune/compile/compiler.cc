#include "worker/tune/compile/compiler.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/device/compile_cuda.h"
#include "worker/tune/compile/code_folder.h"
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
  CompileResult result = {.seconds = reply.seconds()};
  if (reply.code() == 0) {
    result.code = device::CompiledCode{.binary = std::move(*reply.mutable_binary()),
                                       .log = std::move(*reply.mutable_log()),
                                       .function = std::move(*reply.mutable_function())};
  } else {
    result.code = absl::Status(static_cast<absl::StatusCode>(reply.code()), reply.message());
  }
  return result;
}

// A source is not compiled again if it did not compile within nearly the time limit. The limits of two attempts differ
// by less than this factor if the compilers have as much time in both.
constexpr double kNearlyTheLimit = 1.5;

// The part of the code folder that belongs to one request. Empty if there is none.
class KeptCode {
 public:
  explicit KeptCode(const CompileRequest& request) : request_(request) {
    if (request.code_folder().empty() || !CodeFolder::MayKeep(request)) return;
    absl::StatusOr<std::string> nvrtc = device::NvrtcIdentity();  // the first call loads NVRTC, in a few ms
    if (nvrtc.ok()) nvrtc_ = *std::move(nvrtc);
  }

  // Returns the result of an earlier attempt: code, a refusal, or an excess of nearly the same time limit.
  std::optional<CompileResult> Find(const CompileJob& job, absl::Duration time_limit) const {
    if (nvrtc_.empty()) return std::nullopt;
    const CodeFolder folder(request_.code_folder());
    CompileResult result;
    if (std::optional<CompileReply> kept = folder.Find(request_, nvrtc_); kept.has_value()) {
      result = ToCompileResult(*std::move(kept));
    } else {
      double exceeded_s = 0;
      const std::optional<std::string> text = folder.FindText(NameOfLimit());
      if (!text || !absl::SimpleAtod(*text, &exceeded_s)) return std::nullopt;
      if (absl::ToDoubleSeconds(time_limit) > kNearlyTheLimit * exceeded_s) return std::nullopt;
      result.code = Failure(absl::DeadlineExceededError(""), job, absl::Seconds(exceeded_s));
      result.seconds = exceeded_s;
    }
    result.from_folder = true;
    return result;
  }

  // Keeps the time limit that the compilation exceeded.
  void KeepLimit(absl::Duration time_limit) const {
    if (nvrtc_.empty()) return;
    const std::string text = absl::StrCat(absl::ToDoubleSeconds(time_limit));
    CodeFolder(request_.code_folder()).StoreText(NameOfLimit(), text);
  }

 private:
  std::string NameOfLimit() const {
    return absl::StrCat("time limit\n", nvrtc_, "\n", request_.target(), "\n", request_.source());
  }

  const CompileRequest& request_;
  std::string nvrtc_;
};

}  // namespace

CompileResult Compiler::Compile(const CompileJob& job, absl::Duration time_limit, const std::atomic<bool>& cancelled,
                                const std::string& code_folder) {
  const CompileRequest request = MakeRequest(job, code_folder);
  const KeptCode kept_code(request);
  if (std::optional<CompileResult> kept = kept_code.Find(job, time_limit)) return *std::move(kept);
  const absl::StatusOr<process::ChildProcess*> child = Child(cancelled);
  if (!child.ok()) return {.code = child.status()};
  const Clock::time_point begin = Clock::now();
  CompileResult result;
  const absl::Status status = Exchange(*child, request, time_limit, &result);
  if (status.ok()) return result;
  Discard();
  if (!cancelled && absl::IsDeadlineExceeded(status)) kept_code.KeepLimit(time_limit);
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
