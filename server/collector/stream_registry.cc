#include "server/collector/stream_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/collector/grpc_status.h"

namespace telemetry::collector {
namespace {

absl::Status Draining() {
  return absl::UnavailableError("the collector is shutting down; everything acknowledged is durable");
}

}  // namespace

absl::Status StreamRegistry::Add(EndableStream* stream) {
  absl::MutexLock lock(&mutex_);
  if (streams_.size() >= limits_.max_streams) {
    ++counts_.too_many;
    return TryAgainLater(absl::StrCat("the collector has ", limits_.max_streams, " streams and takes no more"),
                         limits_.retry_delay);
  }
  streams_.insert({stream, ""});
  if (draining_) stream->End(Draining());
  return absl::OkStatus();
}

absl::Status StreamRegistry::Claim(EndableStream* stream, const std::string& producer_id) {
  absl::MutexLock lock(&mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end() || !it->second.empty()) return absl::OkStatus();
  uint64_t& count = of_producer_[producer_id];
  if (count >= limits_.max_streams_per_producer) {
    ++counts_.too_many_of_producer;
    return TryAgainLater(absl::StrCat("this producer has ", count, " streams and gets no more"), limits_.retry_delay);
  }
  ++count;
  it->second = producer_id;
  return absl::OkStatus();
}

void StreamRegistry::Remove(EndableStream* stream) {
  absl::MutexLock lock(&mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return;
  if (const auto of = of_producer_.find(it->second); of != of_producer_.end() && --of->second == 0) {
    of_producer_.erase(of);
  }
  if (const auto speaker = speakers_.find(it->second); speaker != speakers_.end() && speaker->second.stream == stream) {
    speakers_.erase(speaker);
  }
  streams_.erase(it);
}

StreamRegistry::Counts StreamRegistry::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

void StreamRegistry::Count(Overdue overdue) {
  absl::MutexLock lock(&mutex_);
  CountLocked(overdue);
}

void StreamRegistry::CountLocked(Overdue overdue) {
  if (overdue == Overdue::kOpen) ++counts_.no_open;
  if (overdue == Overdue::kMessage) ++counts_.idle;
  if (overdue == Overdue::kReading) ++counts_.unread;
}

size_t StreamRegistry::size() const {
  absl::MutexLock lock(&mutex_);
  return streams_.size();
}

void StreamRegistry::TakeOver(const std::string& producer_id, uint64_t epoch, EndableStream* stream) {
  absl::MutexLock lock(&mutex_);
  if (auto it = speakers_.find(producer_id); it != speakers_.end()) {
    const bool fenced = it->second.epoch < epoch;
    it->second.stream->End(fenced ? absl::FailedPreconditionError("another process took over this producer's log")
                                  : absl::AbortedError("a newer stream of this producer took over"));
    speakers_.erase(it);
  }
  if (stream != nullptr) speakers_.insert({producer_id, {stream, epoch}});
}

void StreamRegistry::Recheck() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [stream, producer] : streams_) {
    if (absl::Status status = stream->Recheck(); !status.ok()) stream->End(std::move(status));
  }
}

void StreamRegistry::CheckTimes(SteadyTime now) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [stream, producer] : streams_) CountLocked(stream->CheckTime(now));
}

void StreamRegistry::Drain() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
  for (const auto& [stream, producer] : streams_) stream->End(Draining());
}

}  // namespace telemetry::collector
