#include "proto/base/parallel.h"

#include <algorithm>
#include <deque>
#include <system_error>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/thread_name.h"

namespace telemetry {
namespace {

using Work = absl::FunctionRef<void(size_t begin, size_t end)>;

// One call of ForEachPart, on the caller's stack. Guarded by the mutex of Helpers.
struct Loop {
  const size_t size;
  const size_t part;
  const Work work;
  const size_t parts = (size + part - 1) / part;
  size_t next = 0;     // the first part that no thread has taken
  size_t running = 0;  // parts whose work has not returned
};

// Threads that take parts of loops, one for each processor except that of the caller. They start with the first loop
// and never end: starting a thread takes longer than many loops, and on a busy machine it may run only when the loop is
// over. A thread that waits for its loop waits only for parts that others are working on, so loops may be nested.
// Thread-safe. Never destroyed.
class Helpers {
 public:
  Helpers() {
    const unsigned count = std::max(1U, std::thread::hardware_concurrency()) - 1;
    try {
      for (unsigned i = 0; i < count; ++i) std::thread([this] { Help(); }).detach();
    } catch (const std::system_error&) {  // The system has no more threads. Callers do what helpers do not.
    }
  }

  // Returns when the work of all parts has returned.
  void Run(Loop* loop) {
    absl::MutexLock lock(&mutex_);
    loops_.push_back(loop);
    while (loop->next < loop->parts) RunPart(loop);
    mutex_.Await(absl::Condition(
        +[](size_t* running) { return *running == 0; }, &loop->running));
  }

 private:
  [[noreturn]] void Help() {
    NameThread("parallel");
    absl::MutexLock lock(&mutex_);
    while (true) {
      mutex_.Await(absl::Condition(
          +[](std::deque<Loop*>* loops) { return !loops->empty(); }, &loops_));
      // The loops have turns, so that a long one does not keep all helpers from the others.
      Loop* const loop = loops_.front();
      loops_.pop_front();
      loops_.push_back(loop);
      RunPart(loop);
    }
  }

  // Takes a part that no thread has taken and calls the work for it.
  void RunPart(Loop* loop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const size_t begin = loop->part * loop->next++;
    if (loop->next == loop->parts) loops_.erase(std::find(loops_.begin(), loops_.end(), loop));
    ++loop->running;
    mutex_.Unlock();
    loop->work(begin, std::min(loop->size, begin + loop->part));
    mutex_.Lock();
    --loop->running;
  }

  absl::Mutex mutex_;
  std::deque<Loop*> loops_ ABSL_GUARDED_BY(mutex_);  // those with parts that no thread has taken
};

}  // namespace

void ForEachPart(size_t size, size_t part, Work work) {
  if (size == 0) return;
  if (size <= part) return work(0, size);
  static auto* const helpers = new Helpers;
  Loop loop = {.size = size, .part = part, .work = work};
  helpers->Run(&loop);
}

}  // namespace telemetry
