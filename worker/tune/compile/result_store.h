#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "worker/tune/compile/compile_job.h"

namespace telemetry::worker::tune {

// Results by their jobs' keys, as many as fit into some bytes; the oldest are forgotten. Not thread-safe.
class ResultStore {
 public:
  explicit ResultStore(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Null: not there.
  std::shared_ptr<const CompileResult> Find(const std::string& key) const;
  // Keeps what says something of the source: another try would come to the same.
  void Add(const std::string& key, const std::shared_ptr<const CompileResult>& result);

 private:
  const size_t limit_bytes_;
  size_t bytes_ = 0;
  absl::flat_hash_map<std::string, std::shared_ptr<const CompileResult>> results_;
  std::deque<std::string> keys_;  // the oldest first
};

}  // namespace telemetry::worker::tune
