#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "worker/tune/compile/compile_job.h"

namespace telemetry::worker::tune::compile {

// Results by the key of their job, up to a total size; the oldest are dropped. Not thread-safe.
class ResultStore {
 public:
  explicit ResultStore(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Returns null if there is no such result.
  std::shared_ptr<const CompileResult> Find(const std::string& key) const;
  // Stores a result if it depends only on the source, so that another attempt would give the same.
  void Add(const std::string& key, const std::shared_ptr<const CompileResult>& result);

 private:
  const size_t limit_bytes_;
  size_t bytes_ = 0;
  absl::flat_hash_map<std::string, std::shared_ptr<const CompileResult>> results_;
  std::deque<std::string> keys_;  // oldest first
};

}  // namespace telemetry::worker::tune::compile
