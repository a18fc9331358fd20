#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "worker/tune/process/owned_fd.h"

namespace telemetry::worker::tune {

// The end of what comes through a pipe. Not thread-safe.
class StderrTail {
 public:
  static constexpr size_t kLimitBytes = size_t{64} << 10;

  // `pipe`: its reading end, which does not block.
  explicit StderrTail(OwnedFd pipe) : pipe_(std::move(pipe)) {}

  // -1 once all writers have closed it.
  int fd() const { return pipe_.get(); }
  // Takes what is there now.
  void Read();
  // As much as is kept, cut off at the front; the last line's end is left out.
  std::string Text() const;

 private:
  OwnedFd pipe_;
  std::string text_;
};

}  // namespace telemetry::worker::tune
