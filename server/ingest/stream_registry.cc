#include "server/ingest/stream_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/call/grpc_status.h"

namespace telemetry::ingest {

absl::Status StreamRegistry::Claim(ProducerStream* stream, const std::string& producer_id) {
  absl::MutexLock lock(&mutex_);
  uint64_t& count = of_producer_[producer_id];
  if (count >= limits_.max_streams_per_producer) {
    absl::MutexLock counts_lock(&counts_mutex_);
    ++counts_.too_many_of_producer;
    return call::TryAgainLater(absl::StrCat("this producer has ", count, " streams, which is the limit"),
                               limits_.retry_delay);
  }
  ++count;
  streams_.insert({stream, producer_id});
  return absl::OkStatus();
}

void StreamRegistry::Remove(ProducerStream* stream) {
  absl::MutexLock lock(&mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return;
  if (const auto of = of_producer_.find(it->second); --of->second == 0) of_producer_.erase(of);
  if (const auto speaker = speakers_.find(it->second); speaker != speakers_.end() && speaker->second.stream == stream) {
    speakers_.erase(speaker);
  }
  streams_.erase(it);
}

StreamRegistry::Counts StreamRegistry::counts() const {
  absl::MutexLock lock(&counts_mutex_);
  return counts_;
}

void StreamRegistry::Count(Overdue overdue) {
  absl::MutexLock lock(&counts_mutex_);
  if (overdue == Overdue::kOpen) ++counts_.no_open;
  if (overdue == Overdue::kMessage) ++counts_.idle;
  if (overdue == Overdue::kReading) ++counts_.unread;
}

void StreamRegistry::TakeOver(const std::string& producer_id, uint64_t epoch, ProducerStream* stream) {
  absl::MutexLock lock(&mutex_);
  if (auto it = speakers_.find(producer_id); it != speakers_.end()) {
    const bool fenced = it->second.epoch < epoch;
    it->second.stream->EndAfterCommit(
        fenced ? absl::FailedPreconditionError("another process took over this producer's log")
               : absl::AbortedError("a newer stream of this producer took over"));
    speakers_.erase(it);
  }
  if (streams_.contains(stream)) speakers_.insert({producer_id, {stream, epoch}});
}

}  // namespace telemetry::ingest
