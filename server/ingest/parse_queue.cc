#include "server/ingest/parse_queue.h"

#include <sys/resource.h>

#include <utility>

#include "proto/base/thread_name.h"
#include "server/call/grpc_status.h"

namespace telemetry::ingest {
namespace {

// On a busy machine, the threads that poll the sockets and the writer run first. They have little work for a message.
constexpr int kNiceness = 10;

}  // namespace

ParseQueue::ParseQueue(int threads, const call::Limits& limits, std::function<bool()> is_urgent)
    : is_urgent_(std::move(is_urgent)),
      retry_delay_(limits.retry_delay),
      unparsed_(limits.waiting_bytes, limits.waiting_bytes / 4 * 3) {
  threads_.reserve(threads);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

ParseQueue::~ParseQueue() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status ParseQueue::Run(const std::string& sender, uint64_t bytes, std::function<void()> work) {
  const bool is_urgent = is_urgent_();
  {
    absl::MutexLock lock(&mutex_);
    if (is_urgent || unfinished_ < threads_.size()) {
      return Queue({.sender = sender, .bytes = bytes, .work = std::move(work)});
    }
  }
  work();
  return absl::OkStatus();
}

absl::Status ParseQueue::Queue(Job job) {
  if (!unparsed_.TryTake(job.sender, job.bytes)) {
    return call::TryAgainLater("the collector is overloaded", retry_delay_);
  }
  ++unfinished_;
  std::deque<Job>& jobs = jobs_[job.sender];
  if (jobs.empty()) turns_.push_back(job.sender);
  jobs.push_back(std::move(job));
  return absl::OkStatus();
}

ParseQueue::Job ParseQueue::TakeJob() {
  const std::string sender = std::move(turns_.front());
  turns_.pop_front();
  const auto jobs = jobs_.find(sender);
  Job job = std::move(jobs->second.front());
  jobs->second.pop_front();
  if (jobs->second.empty()) {
    jobs_.erase(jobs);
  } else {
    turns_.push_back(sender);
  }
  return job;
}

void ParseQueue::Loop() {
  // On Linux this is the priority of the thread, not of the process.
  setpriority(PRIO_PROCESS, 0, kNiceness);
  NameThread("parser");
  while (true) {
    Job job;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &ParseQueue::HasWork));
      if (turns_.empty()) return;
      job = TakeJob();
    }
    job.work();
    job.work = nullptr;
    absl::MutexLock lock(&mutex_);
    unparsed_.Release(job.sender, job.bytes);
    --unfinished_;
  }
}

}  // namespace telemetry::ingest
