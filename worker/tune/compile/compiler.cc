#include "worker/tune/compile/compiler.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/device/compile_cuda.h"
#include "worker/tune/compile/code_folder.h"
#include "worker/tune/compile/compile_messages.pb.h"

namespace telemetry::worker::tune::compile {
namespace {

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
// by less than this factor if the compilers have as much time in both, also if the source is one of the first in one of
// them (CompilePoolOptions::kEarlyFactor).
constexpr double kNearlyTheLimit = 2;

// The time after which a compilation's limit is looked at again.
constexpr absl::Duration kLookAtLimit = absl::Milliseconds(100);

// The part of the code folder that belongs to one request. Empty if there is none.
class KeptCode {
 public:
  explicit KeptCode(const CompileRequest& request) : request_(request) {
    if (request.code_folder().empty() || !CodeFolder::MayKeep(request)) return;
    absl::StatusOr<std::string> nvrtc = device::NvrtcIdentity();  // the first call loads NVRTC, in a few ms
    if (nvrtc.ok()) nvrtc_ = *std::move(nvrtc);
  }

  // Returns the result of an earlier attempt, code or a refusal, if it is kept.
  std::optional<CompileResult> Find() const {
    if (nvrtc_.empty()) return std::nullopt;
    std::optional<CompileReply> kept = CodeFolder(request_.code_folder()).Find(request_, nvrtc_);
    if (!kept.has_value()) return std::nullopt;
    CompileResult result = ToCompileResult(*std::move(kept));
    result.from_folder = true;
    return result;
  }

  // Returns the time limit that the source exceeded in an earlier attempt; 0: none.
  absl::Duration ExceededLimit() const {
    if (nvrtc_.empty()) return absl::ZeroDuration();
    const std::optional<std::string> text = CodeFolder(request_.code_folder()).FindText(NameOfLimit());
    double seconds = 0;
    return text && absl::SimpleAtod(*text, &seconds) ? absl::Seconds(seconds) : absl::ZeroDuration();
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

CompileResult Compiler::Compile(const CompileJob& job, const TimeLimit& time_limit, const std::atomic<bool>& cancelled,
                                const std::string& code_folder) {
  const CompileRequest request = MakeRequest(job, code_folder);
  const KeptCode kept_code(request);
  if (std::optional<CompileResult> kept = kept_code.Find()) return *std::move(kept);
  // A limit that falls while the source compiles, because the times of others become known, may become one that the
  // source exceeded before.
  const absl::Duration exceeded_before = kept_code.ExceededLimit();
  const auto is_known = [&] { return time_limit() <= kNearlyTheLimit * exceeded_before; };
  const auto known = [&] {
    return CompileResult{.code = Failure(absl::DeadlineExceededError(""), job, exceeded_before),
                         .seconds = absl::ToDoubleSeconds(exceeded_before),
                         .from_folder = true};
  };
  if (is_known()) return known();
  const absl::StatusOr<process::ChildProcess*> child = Child(cancelled);
  if (!child.ok()) return {.code = child.status()};
  const SteadyTime begin = SteadyNow();
  CompileResult result;
  const absl::Status status = Exchange(
      *child, request, [&] { return is_known() ? absl::ZeroDuration() : time_limit(); }, &result);
  if (status.ok()) return result;
  Discard();
  if (cancelled) {
    result.code = absl::CancelledError("compiling was cancelled");
  } else if (absl::IsDeadlineExceeded(status) && is_known()) {
    return known();
  } else {
    const absl::Duration exceeded = time_limit();
    if (absl::IsDeadlineExceeded(status)) kept_code.KeepLimit(exceeded);
    result.code = Failure(status, job, exceeded);
  }
  result.seconds = absl::ToDoubleSeconds(ElapsedSince(begin));
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

absl::Status Compiler::Exchange(process::ChildProcess* child, const CompileRequest& request,
                                const TimeLimit& time_limit, CompileResult* result) {
  const SteadyTime begin = SteadyNow();
  RETURN_IF_ERROR(child->Send(request, time_limit()));
  while (true) {
    const absl::Duration left = time_limit() - ElapsedSince(begin);
    CompileReply reply;
    const absl::Status status = child->Receive(&reply, std::clamp(left, absl::ZeroDuration(), kLookAtLimit));
    if (absl::IsDeadlineExceeded(status) && left > kLookAtLimit) continue;
    RETURN_IF_ERROR(status);
    *result = ToCompileResult(std::move(reply));
    return absl::OkStatus();
  }
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
