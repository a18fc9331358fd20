#include "worker/tune/process/stderr_tail.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace telemetry::worker::tune::process {
namespace {

// Bounds the work of one call if a writer never pauses.
constexpr int kReadsAtOnce = 16;

}  // namespace

void StderrTail::Read() {
  std::array<char, size_t{16} << 10> chunk;
  for (int i = 0; i < kReadsAtOnce && pipe_.is_open(); ++i) {
    const ssize_t size = read(pipe_.get(), chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      pipe_ = OwnedFd();
      return;
    }
    text_.append(chunk.data(), static_cast<size_t>(size));
    if (text_.size() > 2 * kLimitBytes) text_.erase(0, text_.size() - kLimitBytes);
  }
}

void StderrTail::Clear() {
  Read();
  text_.clear();
}

std::string StderrTail::Text() const {
  std::string text = text_.size() > kLimitBytes ? text_.substr(text_.size() - kLimitBytes) : text_;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace telemetry::worker::tune::process
