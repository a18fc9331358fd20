#include "server/ingest/thread_pool.h"

#include <utility>

namespace telemetry::ingest {

ThreadPool::ThreadPool(int threads) {
  threads_.reserve(threads);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

ThreadPool::~ThreadPool() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Run(std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  queue_.push_back(std::move(work));
}

void ThreadPool::RunOnIdle(std::function<void()> work) {
  {
    absl::MutexLock lock(&mutex_);
    if (queue_.size() + running_ < threads_.size()) return queue_.push_back(std::move(work));
  }
  work();
}

void ThreadPool::Loop() {
  while (true) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &ThreadPool::HasWork));
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
    }
    work();
    work = nullptr;
    absl::MutexLock lock(&mutex_);
    --running_;
  }
}

}  // namespace telemetry::ingest
