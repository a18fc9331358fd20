#include "worker/tune/compile/compile_pool.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "worker/tune/compile/code_folder.h"

namespace telemetry::worker::tune::compile {

absl::StatusOr<std::unique_ptr<CompilePool>> CompilePool::Create(CompilePoolOptions options) {
  if (options.processes < 0 || options.time_limit <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("a compile pool cannot have ", options.processes,
                                                   " processes and a time limit of ",
                                                   absl::FormatDuration(options.time_limit)));
  }
  if (options.processes == 0) options.processes = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (!options.code_folder.empty()) CodeFolder(options.code_folder).Trim(options.code_folder_bytes).IgnoreError();
  return absl::WrapUnique(new CompilePool(std::move(options)));
}

CompilePool::~CompilePool() {
  std::vector<std::unique_ptr<Lane>> lanes;
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    CancelAll();
    lanes = std::move(lanes_);
  }
  for (const std::unique_ptr<Lane>& lane : lanes) lane->thread.join();
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
    queue_.insert(place == Place::kFirst ? queue_.begin() : queue_.end(), open);
    ++stats_.unique_sources;
    StartLaneIfNeeded();
  } else {
    ++stats_.deduplicated;
    const auto queued = std::find(queue_.begin(), queue_.end(), open);
    if (place == Place::kFirst && queued != queue_.end()) std::rotate(queue_.begin(), queued, queued + 1);
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

void CompilePool::StartLaneIfNeeded() {
  const auto idle = static_cast<size_t>(
      std::count_if(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->running == nullptr; }));
  if (queue_.size() <= idle || lanes_.size() == static_cast<size_t>(options_.processes)) return;
  lanes_.push_back(std::make_unique<Lane>(CompilerOptions{.program = options_.program,
                                                          .memory_limit_bytes = options_.memory_limit_bytes,
                                                          .code_folder = options_.code_folder}));
  Lane* lane = lanes_.back().get();
  lane->thread = std::thread([this, lane] { Run(lane); });
}

void CompilePool::Run(Lane* lane) {
  while (const std::shared_ptr<Compilation> compilation = Next(lane)) {
    CompileResult result = lane->compiler.Compile(compilation->job, LimitFor(compilation->job), compilation->cancelled);
    TrimCodeFolder(result);
    Finish(lane, *compilation, std::move(result));
  }
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

absl::Duration CompilePool::LimitFor(const CompileJob& job) const {
  constexpr size_t kSeveral = 8;
  absl::MutexLock lock(&mutex_);
  const size_t count = compile_seconds_.size();
  if (!options_.ends_stragglers || job.dialect != device::Dialect::kCuda || count < kSeveral)
    return options_.time_limit;
  const absl::Duration limit = absl::Seconds(CompilePoolOptions::kStragglerFactor * compile_seconds_[count / 2]);
  return std::min(options_.time_limit, std::max(limit, CompilePoolOptions::kLeastLimit));
}

// Returns null when the pool ends.
std::shared_ptr<CompilePool::Compilation> CompilePool::Next(Lane* lane) {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &CompilePool::HasWork));
  if (queue_.empty()) return nullptr;
  lane->running = std::move(queue_.front());
  queue_.pop_front();
  return lane->running;
}

void CompilePool::Finish(Lane* lane, const Compilation& compilation, CompileResult result) {
  auto shared = std::make_shared<const CompileResult>(std::move(result));
  absl::MutexLock lock(&mutex_);
  lane->running = nullptr;
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
  queue_.clear();
  for (const auto& [key, compilation] : open_) {
    compilation->cancelled = true;
    ++stats_.cancelled;
    DeliverToAll(*compilation, Cancelled());
  }
  open_.clear();
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->running != nullptr) lane->compiler.Interrupt();
  }
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
    done(deduplicated ? CompileResult{.code = result->code, .deduplicated = true} : *result);
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
