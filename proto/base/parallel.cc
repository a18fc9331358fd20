#include "proto/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/thread_name.h"

namespace telemetry {
namespace {

// The parts of one call of ForEachPart. Outlives the call while a thread that came too late for a part has it.
class Loop {
 public:
  using Work = absl::FunctionRef<void(size_t begin, size_t end)>;

  Loop(size_t size, size_t part, Work work)
      : size_(size), part_(part), parts_((size + part - 1) / part), left_(parts_), work_(work) {}

  size_t parts() const { return parts_; }

  // Works until each part has a thread.
  void TakeParts() {
    size_t worked = 0;
    for (size_t i = next_++; i < parts_; i = next_++, ++worked) work_(i * part_, std::min(size_, (i + 1) * part_));
    if (worked == 0) return;
    absl::MutexLock lock(&mutex_);
    left_ -= worked;
  }

  void AwaitParts() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](size_t* left) { return *left == 0; }, &left_));
  }

 private:
  const size_t size_;
  const size_t part_;
  const size_t parts_;
  std::atomic<size_t> next_ = 0;
  absl::Mutex mutex_;
  size_t left_ ABSL_GUARDED_BY(mutex_);  // parts whose work has not returned
  const Work work_;                      // valid while left_ > 0
};

// Threads that take parts of loops, one for each processor except that of the caller. They start with the first loop
// and never end: starting a thread takes longer than many loops, and on a busy machine it may run only when the loop is
// over.
class Helpers {
 public:
  Helpers() {
    for (size_t i = 0; i < kCount; ++i) std::thread([this] { Run(); }).detach();
  }

  void Help(const std::shared_ptr<Loop>& loop) {
    const size_t helpers = std::min(loop->parts() - 1, kCount);
    absl::MutexLock lock(&mutex_);
    loops_.insert(loops_.end(), helpers, loop);
  }

 private:
  static inline const size_t kCount = std::max(1U, std::thread::hardware_concurrency()) - 1;

  [[noreturn]] void Run() {
    NameThread("parallel");
    while (true) Take()->TakeParts();
  }

  std::shared_ptr<Loop> Take() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](std::deque<std::shared_ptr<Loop>>* loops) { return !loops->empty(); }, &loops_));
    std::shared_ptr<Loop> loop = std::move(loops_.front());
    loops_.pop_front();
    return loop;
  }

  absl::Mutex mutex_;
  std::deque<std::shared_ptr<Loop>> loops_ ABSL_GUARDED_BY(mutex_);  // each once for every thread that may help
};

}  // namespace

void ForEachPart(size_t size, size_t part, absl::FunctionRef<void(size_t begin, size_t end)> work) {
  const auto loop = std::make_shared<Loop>(size, part, work);
  if (loop->parts() > 1) {
    static auto* const helpers = new Helpers;
    helpers->Help(loop);
  }
  loop->TakeParts();
  loop->AwaitParts();
}

}  // namespace telemetry
