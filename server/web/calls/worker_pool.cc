#include "server/web/calls/worker_pool.h"

#include <utility>

namespace telemetry::web::calls {

WorkerPool::WorkerPool(size_t threads, size_t most_waiting) : most_waiting_(most_waiting) {
  for (size_t worker = 0; worker < threads; ++worker) threads_.emplace_back([this, worker] { Run(worker); });
}

bool WorkerPool::Submit(const std::string& network, Work work) {
  absl::MutexLock lock(&mutex_);
  if (is_stopping_) return false;
  const auto [own, is_new] = waiting_.try_emplace(network);
  if (own->second.size() >= most_waiting_) return false;
  own->second.push_back(std::move(work));
  if (is_new) turns_.push_back(network);
  return true;
}

void WorkerPool::Stop() {
  std::map<std::string, std::deque<Work>> dropped;  // destroyed without the lock: it may own other objects
  {
    absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
    turns_.clear();
    waiting_.swap(dropped);
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

size_t WorkerPool::waiting() const {
  absl::MutexLock lock(&mutex_);
  size_t count = 0;
  for (const auto& [network, works] : waiting_) count += works.size();
  return count;
}

void WorkerPool::Run(size_t worker) {
  while (true) {
    Work work;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &WorkerPool::HasWork));
      if (is_stopping_) return;
      work = TakeNext();
    }
    work(worker);
  }
}

WorkerPool::Work WorkerPool::TakeNext() {
  std::string network = std::move(turns_.front());
  turns_.pop_front();
  const auto own = waiting_.find(network);
  Work work = std::move(own->second.front());
  own->second.pop_front();
  own->second.empty() ? static_cast<void>(waiting_.erase(own)) : turns_.push_back(std::move(network));
  return work;
}

}  // namespace telemetry::web::calls
