#include "worker/tune/compile/callback_thread.h"

#include <utility>

namespace telemetry::worker::tune::compile {

CallbackThread::~CallbackThread() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  thread_.join();
}

void CallbackThread::Post(std::function<void()> callback) {
  absl::MutexLock lock(&mutex_);
  callbacks_.push_back(std::move(callback));
}

void CallbackThread::Run() {
  while (true) {
    std::function<void()> callback;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &CallbackThread::HasWork));
      if (callbacks_.empty()) return;
      callback = std::move(callbacks_.front());
      callbacks_.pop_front();
    }
    callback();
  }
}

}  // namespace telemetry::worker::tune::compile
