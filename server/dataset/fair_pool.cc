#include "server/dataset/fair_pool.h"

#include <algorithm>
#include <utility>

namespace telemetry::dataset {

FairPool::FairPool(const Options& options) : options_(options), most_running_(std::max(options.threads / 2, 1)) {
  threads_.reserve(options.threads);
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { Loop(); });
}

FairPool::~FairPool() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

bool FairPool::Run(const std::string& client, std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  Client& of = clients_[client];
  if (of.waiting.size() >= options_.most_waiting) return false;
  if (of.waiting.empty()) turns_.push_back(client);
  of.waiting.push_back(std::move(work));
  return true;
}

void FairPool::Hold(const std::string& client, uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  clients_[client].held_bytes += bytes;
  held_bytes_ += bytes;
}

void FairPool::Release(const std::string& client, uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  clients_[client].held_bytes -= bytes;
  held_bytes_ -= bytes;
  ForgetIfIdle(client);
}

bool FairPool::MayBegin(const Client& client) const {
  if (stopping_) return true;
  return client.running < most_running_ && held_bytes_ < options_.held_bytes &&
         client.held_bytes < options_.held_bytes / 4;
}

bool FairPool::HasWork() const {
  if (stopping_) return true;
  return std::any_of(turns_.begin(), turns_.end(),
                     [this](const std::string& client)
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return MayBegin(clients_.at(client)); });
}

std::function<void()> FairPool::Take(std::string* client) {
  const auto turn = std::find_if(turns_.begin(), turns_.end(),
                                 [this](const std::string& of)
                                     ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return MayBegin(clients_.at(of)); });
  if (turn == turns_.end()) return nullptr;
  *client = *turn;
  turns_.erase(turn);
  Client& of = clients_.at(*client);
  std::function<void()> work = std::move(of.waiting.front());
  of.waiting.pop_front();
  if (!of.waiting.empty()) turns_.push_back(*client);
  ++of.running;
  return work;
}

void FairPool::ForgetIfIdle(const std::string& client) {
  const auto found = clients_.find(client);
  const Client& of = found->second;
  if (of.waiting.empty() && of.running == 0 && of.held_bytes == 0) clients_.erase(found);
}

void FairPool::Loop() {
  while (true) {
    std::string client;
    std::function<void()> work;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &FairPool::HasWork));
      work = Take(&client);
      if (work == nullptr) return;
    }
    work();
    work = nullptr;  // releases the objects that the closure holds
    absl::MutexLock lock(&mutex_);
    --clients_.at(client).running;
    ForgetIfIdle(client);
  }
}

}  // namespace telemetry::dataset
