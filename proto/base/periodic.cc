#include "proto/base/periodic.h"

#include <utility>

namespace telemetry {

Periodic::Periodic(absl::Duration interval, std::function<void()> look)
    : interval_(interval), look_(std::move(look)), thread_([this] { Run(); }) {}

Periodic::~Periodic() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  thread_.join();
}

void Periodic::Run() {
  const auto stopping = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; };
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (stop_.Await(mutex_, SteadyAfter(interval_), stopping)) return;
    }
    look_();
  }
}

}  // namespace telemetry
