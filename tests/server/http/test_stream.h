#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/http/message.h"

namespace telemetry::http {

// A stream whose text a test adds. Thread-safe.
class TestStream final : public BodyStream {
 public:
  void Add(std::string_view text, bool is_last = false);
  // Wakes the server although there is no new text.
  void Wake();
  // Blocks until the server has closed the stream.
  void AwaitClose() { closed_.WaitForNotification(); }
  bool is_closed() const { return closed_.HasBeenNotified(); }

  bool Take(std::string* text, std::function<void()> wake) override;
  void Close() override { closed_.Notify(); }

 private:
  absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  bool is_last_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
  absl::Notification closed_;
};

}  // namespace telemetry::http
