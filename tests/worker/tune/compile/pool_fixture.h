#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "worker/tune/compile/compile_pool.h"

namespace telemetry::worker::tune::compile {

// A pool with the results of its jobs in the order of submission.
class PoolTest : public testing::Test {
 protected:
  void StartPool(CompilePoolOptions options) { pool_ = CompilePool::Create(std::move(options)).value(); }

  void Submit(CompileJob job) {
    const size_t index = NewResult();
    pool_->Submit(std::move(job), [this, index](const CompileResult& result) {
      absl::MutexLock lock(&mutex_);
      results_[index].push_back(result);
    });
  }

  // Waits for all jobs. Each job must have exactly one result.
  std::vector<CompileResult> Results() {
    pool_->Drain();
    return OneResultEach();
  }

  std::vector<CompileResult> OneResultEach() {
    absl::MutexLock lock(&mutex_);
    std::vector<CompileResult> results;
    for (const std::vector<CompileResult>& each : results_) {
      EXPECT_EQ(each.size(), 1U);
      results.push_back(each.empty() ? CompileResult() : each.front());
    }
    return results;
  }

  std::unique_ptr<CompilePool> pool_;

 private:
  size_t NewResult() {
    absl::MutexLock lock(&mutex_);
    results_.emplace_back();
    return results_.size() - 1;
  }

  absl::Mutex mutex_;
  std::vector<std::vector<CompileResult>> results_;
};

inline absl::StatusCode ResultCode(const CompileResult& result) { return result.code.status().code(); }

}  // namespace telemetry::worker::tune::compile
