#include "tests/server/http/test_stream.h"

#include <utility>

namespace telemetry::http {

void TestStream::Add(std::string_view text, bool is_last) {
  {
    const absl::MutexLock lock(&mutex_);
    text_.append(text);
    is_last_ = is_last;
  }
  Wake();
}

void TestStream::Wake() {
  std::function<void()> wake;
  {
    const absl::MutexLock lock(&mutex_);
    wake = wake_;
  }
  if (wake) wake();
}

bool TestStream::Take(std::string* text, std::function<void()> wake) {
  const absl::MutexLock lock(&mutex_);
  text->append(std::exchange(text_, ""));
  wake_ = std::move(wake);
  return !is_last_;
}

}  // namespace telemetry::http
