#include "worker/tune/compile/compile_pool.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/tune/compile/code_folder.h"

namespace telemetry::worker::tune::compile {

absl::StatusOr<std::unique_ptr<CompilePool>> CompilePool::Create(CompilePoolOptions options) {
  if (options.processes < 0 || options.time_limit <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("a compile pool cannot have ", options.processes,
                                                   " processes and a time limit of ",
                                                   absl::FormatDuration(options.time_limit)));
  }
  std::shared_ptr<CompilerGroup> compilers = options.compilers;
  if (compilers == nullptr) {
    ASSIGN_OR_RETURN(
        compilers, CompilerGroup::Create({.program = options.program, .memory_limit_bytes = options.memory_limit_bytes},
                                         options.processes));
  }
  if (!options.code_folder.empty()) CodeFolder(options.code_folder).Trim(options.code_folder_bytes).IgnoreError();
  return absl::WrapUnique(new CompilePool(std::move(options), std::move(compilers)));
}

CompilePool::CompilePool(CompilePoolOptions options, std::shared_ptr<CompilerGroup> compilers)
    : options_(std::move(options)), kept_(options_.kept_bytes) {
  CompilerGroup::Calls calls = {
      .limit_for = [this](CompilerGroup::Task* task) { return LimitFor(static_cast<Compilation*>(task)); },
      .finish =
          [this](CompilerGroup::Task* task, CompileResult result) {
            TrimCodeFolder(result);
            Finish(*static_cast<Compilation*>(task), std::move(result));
          },
      .code_folder = options_.code_folder,
  };
  member_ = std::make_unique<CompilerGroup::Member>(std::move(compilers), std::move(calls));
}

CompilePool::~CompilePool() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    CancelAll();
  }
  member_.reset();
}

void CompilePool::Submit(CompileJob job, Callback done) { Submit(std::move(job), std::move(done), Place::kLast); }

void CompilePool::Submit(CompileJob job, Callback done, Place place) {
  std::string key = JobKey(job);
  absl::MutexLock lock(&mutex_);
  ++stats_.submitted;
  ++undelivered_;
  if (std::shared_ptr<const CompileResult> result = kept_.Find(key); result != nullptr) {
    ++stats_.deduplicated;
    Deliver(std::move(done), std::move(result), /*deduplicated=*/true);
    return;
  }
  if (ending_) {  // a callback submits while the pool is destroyed: no lane would compile it
    Deliver(std::move(done), Cancelled(), /*deduplicated=*/false);
    return;
  }
  std::shared_ptr<Compilation>& open = open_[key];
  if (open == nullptr) {
    open = std::make_shared<Compilation>(std::move(key), std::move(job));
    ++stats_.unique_sources;
    member_->Add(open, place == Place::kFirst);
  } else {
    ++stats_.deduplicated;
    if (place == Place::kFirst) member_->MoveFirst(open.get());
  }
  open->waiting.push_back(std::move(done));
}

std::future<CompileResult> CompilePool::Submit(CompileJob job) { return SubmitForFuture(std::move(job), Place::kLast); }

std::future<CompileResult> CompilePool::SubmitFirst(CompileJob job) {
  return SubmitForFuture(std::move(job), Place::kFirst);
}

std::future<CompileResult> CompilePool::SubmitForFuture(CompileJob job, Place place) {
  auto promise = std::make_shared<std::promise<CompileResult>>();
  std::future<CompileResult> result = promise->get_future();
  Submit(
      std::move(job), [promise](const CompileResult& compiled) { promise->set_value(compiled); }, place);
  return result;
}

void CompilePool::TrimCodeFolder(const CompileResult& result) {
  if (options_.code_folder.empty() || result.from_folder || !result.code.ok()) return;
  {
    absl::MutexLock lock(&mutex_);
    added_bytes_ += result.code->binary.size();
    if (added_bytes_ < options_.code_folder_bytes / 8) return;
    added_bytes_ = 0;
  }
  CodeFolder(options_.code_folder).Trim(options_.code_folder_bytes).IgnoreError();
}

absl::Duration CompilePool::LimitFor(Compilation* compilation) const {
  constexpr size_t kSeveral = 8;
  absl::MutexLock lock(&mutex_);
  const size_t count = compile_seconds_.size();
  if (count < kSeveral) compilation->began_early = true;
  if (!options_.ends_stragglers || compilation->job.dialect != device::Dialect::kCuda || count < kSeveral)
    return options_.time_limit;
  const absl::Duration known = absl::Seconds(CompilePoolOptions::kStragglerFactor * compile_seconds_[count / 2]);
  const double factor = compilation->began_early ? CompilePoolOptions::kEarlyFactor : 1;
  return std::min(options_.time_limit, factor * std::max(known, CompilePoolOptions::kLeastLimit));
}

void CompilePool::Finish(const Compilation& compilation, CompileResult result) {
  auto shared = std::make_shared<const CompileResult>(std::move(result));
  absl::MutexLock lock(&mutex_);
  if (!shared->from_folder) stats_.busy_seconds += shared->seconds;
  if (compilation.cancelled) return;  // the callbacks have already been posted
  Count(shared->code.status());
  if (shared->from_folder && shared->code.ok()) ++stats_.from_folder;
  if (shared->code.ok()) {
    compile_seconds_.insert(std::upper_bound(compile_seconds_.begin(), compile_seconds_.end(), shared->seconds),
                            shared->seconds);
  }
  kept_.Add(compilation.key, shared);
  open_.erase(compilation.key);
  DeliverToAll(compilation, shared);
}

void CompilePool::Count(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      ++stats_.compiled;
      break;
    case absl::StatusCode::kInvalidArgument:
      ++stats_.refused;
      break;
    case absl::StatusCode::kDeadlineExceeded:
      ++stats_.timeouts;
      break;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kResourceExhausted:
      ++stats_.crashes;
      break;
    default:
      ++stats_.unavailable;
  }
}

void CompilePool::Cancel() {
  absl::MutexLock lock(&mutex_);
  CancelAll();
}

void CompilePool::CancelAll() {
  for (const auto& [key, compilation] : open_) {
    compilation->cancelled = true;
    ++stats_.cancelled;
    DeliverToAll(*compilation, Cancelled());
  }
  open_.clear();
  member_->CancelAll();
}

std::shared_ptr<const CompileResult> CompilePool::Cancelled() {
  return std::make_shared<const CompileResult>(CompileResult{.code = absl::CancelledError("compiling was cancelled")});
}

void CompilePool::DeliverToAll(const Compilation& compilation, const std::shared_ptr<const CompileResult>& result) {
  for (size_t i = 0; i < compilation.waiting.size(); ++i)
    Deliver(compilation.waiting[i], result, /*deduplicated=*/i > 0);
}

void CompilePool::Deliver(Callback done, std::shared_ptr<const CompileResult> result, bool deduplicated) {
  callbacks_.Post([this, done = std::move(done), result = std::move(result), deduplicated] {
    CompileResult copy = *result;
    copy.deduplicated = deduplicated;
    done(copy);
    absl::MutexLock lock(&mutex_);
    --undelivered_;
  });
}

void CompilePool::Drain() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &CompilePool::IsDrained));
}

CompilePoolStats CompilePool::stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

}  // namespace telemetry::worker::tune::compile
