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
#include "proto/clock/steady.h"
#include "worker/device/device.h"
#include "worker/tune/candidates.h"
#include "worker/tune/compile/compile_pool.h"

namespace telemetry::worker::tune {

// A candidate and what its source compiled to.
struct CompiledCandidate {
  std::shared_ptr<const Candidate> candidate;
  CompileResult result;
};

// Candidates on their way through a compile pool, for one device. The tuner's thread only.
class CompileQueue {
 public:
  // The pool outlives the queue.
  CompileQueue(CompilePool* pool, const DeviceProperties& device, const std::string& device_id);

  void Submit(const std::shared_ptr<const Candidate>& candidate);
  // The next one that is compiled, in the order in which they get ready; empty: none is ready within that time.
  // There must be one under way.
  std::optional<CompiledCandidate> Next(absl::Duration patience);
  // Waits for that config, which was submitted; others stay for Next.
  CompiledCandidate Await(uint64_t config_id);

  size_t under_way() const { return under_way_; }

 private:
  // What the pool's thread fills; it may outlive the queue in a callback.
  struct Ready {
    absl::Mutex mutex;
    std::deque<CompiledCandidate> compiled ABSL_GUARDED_BY(mutex);
    SteadyCondition filled;
  };

  CompilePool& pool_;
  const Dialect dialect_;
  const std::string target_;
  const std::shared_ptr<Ready> ready_ = std::make_shared<Ready>();
  size_t under_way_ = 0;
};

}  // namespace telemetry::worker::tune
