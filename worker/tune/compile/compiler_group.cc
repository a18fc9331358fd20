#include "worker/tune/compile/compiler_group.h"

#include <algorithm>
#include <tuple>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace telemetry::worker::tune::compile {

CompilerGroup::Member::Member(std::shared_ptr<CompilerGroup> group, Calls calls)
    : group_(std::move(group)), calls_(std::move(calls)) {
  absl::MutexLock lock(&group_->mutex_);
  group_->members_.push_back(this);
}

CompilerGroup::Member::~Member() {
  CancelAll();
  absl::MutexLock lock(&group_->mutex_);
  group_->mutex_.Await(absl::Condition(this, &Member::IsIdle));
  group_->members_.erase(std::find(group_->members_.begin(), group_->members_.end(), this));
}

void CompilerGroup::Member::Add(std::shared_ptr<Task> task, bool is_first) {
  absl::MutexLock lock(&group_->mutex_);
  waiting_.insert(is_first ? waiting_.begin() : waiting_.end(), std::move(task));
  group_->StartLaneIfNeeded();
}

void CompilerGroup::Member::MoveFirst(const Task* task) {
  absl::MutexLock lock(&group_->mutex_);
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [task](const auto& waiting) { return waiting.get() == task; });
  if (found != waiting_.end()) std::rotate(waiting_.begin(), found, found + 1);
}

void CompilerGroup::Member::CancelAll() {
  absl::MutexLock lock(&group_->mutex_);
  for (const std::shared_ptr<Task>& task : waiting_) task->cancelled = true;
  waiting_.clear();
  for (const std::unique_ptr<Lane>& lane : group_->lanes_) {
    if (lane->member != this) continue;
    lane->task->cancelled = true;
    lane->compiler.Interrupt();
  }
}

absl::StatusOr<std::shared_ptr<CompilerGroup>> CompilerGroup::Create(CompilerOptions options, int processes) {
  if (processes < 0) return absl::InvalidArgumentError(absl::StrCat("there cannot be ", processes, " compilers"));
  if (processes == 0) processes = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return absl::WrapUnique(new CompilerGroup(std::move(options), processes));
}

CompilerGroup::~CompilerGroup() {
  std::vector<std::unique_ptr<Lane>> lanes;
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    warm_up_cancelled_ = true;
    for (const std::unique_ptr<Lane>& lane : lanes_) {
      if (!lane->is_warm) lane->compiler.Interrupt();
    }
    lanes = std::move(lanes_);
  }
  for (const std::unique_ptr<Lane>& lane : lanes) lane->thread.join();
}

bool CompilerGroup::HasWork() const { return ending_ || NextMember() != nullptr; }

CompilerGroup::Member* CompilerGroup::NextMember() const {
  Member* next = nullptr;
  for (Member* member : members_) {
    if (member->waiting_.empty()) continue;
    const auto rank = [](const Member* of) { return std::make_tuple(of->running_, of->served_); };
    if (next == nullptr || rank(member) < rank(next)) next = member;
  }
  return next;
}

CompilerGroup::Lane* CompilerGroup::StartLane() {
  lanes_.push_back(std::make_unique<Lane>(options_));
  Lane* lane = lanes_.back().get();
  lane->is_warm = warm_up_.source.empty();
  lane->thread = std::thread([this, lane] { Run(lane); });
  return lane;
}

void CompilerGroup::StartLaneIfNeeded() {
  const auto idle =
      static_cast<size_t>(std::count_if(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->is_free; }));
  size_t waiting = 0;
  for (const Member* member : members_) waiting += member->waiting_.size();
  if (waiting > idle && lanes_.size() < static_cast<size_t>(processes_)) StartLane();
}

void CompilerGroup::Prewarm(const CompileJob& job, absl::Duration time_limit) {
  absl::MutexLock lock(&mutex_);
  if (!warm_up_.source.empty()) return;
  warm_up_ = job;
  warm_up_limit_ = time_limit;
  while (lanes_.size() < static_cast<size_t>(processes_)) StartLane();
}

void CompilerGroup::WarmUp(Lane* lane) {
  CompileJob job;
  absl::Duration limit;
  {
    absl::MutexLock lock(&mutex_);
    if (lane->is_warm) return;
    job = warm_up_;
    limit = warm_up_limit_;
  }
  lane->compiler.Compile(
      job, [limit] { return limit; }, warm_up_cancelled_);
  absl::MutexLock lock(&mutex_);
  lane->is_warm = true;
}

void CompilerGroup::Run(Lane* lane) {
  WarmUp(lane);
  while (const std::shared_ptr<Task> task = Next(lane)) {
    const Calls& calls = lane->member->calls_;
    const auto limit = [&calls, &task] { return calls.limit_for(task.get()); };
    CompileResult result = lane->compiler.Compile(task->job, limit, task->cancelled, calls.code_folder);
    {
      // A caller that waits for the result may add the next task at once, which needs no other lane.
      absl::MutexLock lock(&mutex_);
      lane->is_free = true;
    }
    calls.finish(task.get(), std::move(result));
    absl::MutexLock lock(&mutex_);
    --lane->member->running_;
    lane->member = nullptr;
    lane->task = nullptr;
  }
}

std::shared_ptr<CompilerGroup::Task> CompilerGroup::Next(Lane* lane) {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &CompilerGroup::HasWork));
  Member* member = NextMember();
  if (member == nullptr) return nullptr;
  std::shared_ptr<Task> task = std::move(member->waiting_.front());
  member->waiting_.pop_front();
  ++member->running_;
  member->served_ = ++begun_;
  lane->is_free = false;
  lane->member = member;
  lane->task = task.get();
  return task;
}

}  // namespace telemetry::worker::tune::compile
