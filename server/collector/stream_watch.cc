#include "server/collector/stream_watch.h"

#include <utility>

namespace telemetry::collector {

StreamWatch::StreamWatch(absl::Duration interval, std::function<void()> look)
    : interval_(interval), look_(std::move(look)), thread_([this] { Run(); }) {}

StreamWatch::~StreamWatch() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void StreamWatch::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), interval_)) return;
    }
    look_();
  }
}

}  // namespace telemetry::collector
