#include "server/collector/stream_registry.h"

#include <utility>

namespace telemetry::collector {
namespace {

absl::Status Draining() {
  return absl::UnavailableError("the collector is shutting down; everything acknowledged is durable");
}

}  // namespace

void StreamRegistry::Add(EndableStream* stream) {
  absl::MutexLock lock(&mutex_);
  streams_.insert(stream);
  if (draining_) stream->End(Draining());
}

void StreamRegistry::Remove(EndableStream* stream) {
  absl::MutexLock lock(&mutex_);
  streams_.erase(stream);
  absl::erase_if(speakers_, [stream](const auto& entry) { return entry.second.stream == stream; });
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
  for (EndableStream* stream : streams_) {
    if (absl::Status status = stream->Recheck(); !status.ok()) stream->End(std::move(status));
  }
}

void StreamRegistry::Drain() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
  for (EndableStream* stream : streams_) stream->End(Draining());
}

}  // namespace telemetry::collector
