#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "worker/device/device.h"
#include "worker/tune/candidates.h"
#include "worker/tune/compile/compile_pool.h"

namespace telemetry::worker::tune {

// A candidate and the result of compiling its source.
struct CompiledCandidate {
  std::shared_ptr<const Candidate> candidate;
  compile::CompileResult result;
  SteadyTime ended;  // when the compiler ended, also for code that was compiled before
};

// A queue of candidates that a compile pool compiles for one device. The pool gets a few for each of its compilers, and
// more only when Next or Await returns one: where processors are few, compilers that run far ahead would take them from
// the measuring process, and leave it alone with one of them at the end. Used by the tuner's thread only.
class CompileQueue {
 public:
  // Both must outlive the queue.
  CompileQueue(compile::CompilePool* pool, const device::Device* device) : pool_(*pool), device_(*device) {}

  void Submit(const std::shared_ptr<const Candidate>& candidate);
  // Removes the candidates that the pool does not have yet.
  void DropWaiting();
  // Waits at most `patience` for a candidate to be compiled and returns it, in the order in which they complete;
  // returns nullopt on timeout, or after a call of Wake. under_way() must not be 0.
  std::optional<CompiledCandidate> Next(absl::Duration patience);
  // Waits until this config, which was submitted before, is compiled, and gives it to the pool at once. Other
  // candidates remain for Next.
  CompiledCandidate Await(uint64_t config_id);

  // Returns the next candidate if one is compiled.
  std::optional<CompiledCandidate> Poll() { return Next(absl::ZeroDuration()); }
  // Waits at most `patience` for a call of Wake or, if `or_compiled`, for a candidate that Next would return. Returns
  // at once if Wake was called since the last call of Next or AwaitEvent.
  void AwaitEvent(bool or_compiled, absl::Duration patience);
  // Makes the call of Next or AwaitEvent that is waiting, or else the next one that would wait, return. May be called
  // from any thread.
  void Wake();

  // The number of submitted candidates that neither Next nor Await has returned.
  size_t under_way() const { return under_way_; }

 private:
  // The compiled candidates. The pool's thread fills it; its callbacks keep it alive after the queue is destroyed.
  struct Ready {
    absl::Mutex mutex;
    std::deque<CompiledCandidate> compiled ABSL_GUARDED_BY(mutex);
    bool is_woken ABSL_GUARDED_BY(mutex) = false;
    SteadyCondition filled;
  };

  // The candidates that the pool may have, compiled ones included, for each compiler.
  static constexpr size_t kForEachCompiler = 3;

  void GiveToPool(const std::shared_ptr<const Candidate>& candidate);
  void FillPool();
  std::optional<CompiledCandidate> TakeReady(absl::Duration patience);

  compile::CompilePool& pool_;
  const device::Device& device_;
  std::deque<std::shared_ptr<const Candidate>> waiting_;
  const std::shared_ptr<Ready> ready_ = std::make_shared<Ready>();
  size_t under_way_ = 0;
};

}  // namespace telemetry::worker::tune
