#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "worker/tune/process/owned_fd.h"

namespace telemetry::worker::tune::process {

// Keeps the end of the text that is read from a pipe. Not thread-safe.
class StderrTail {
 public:
  static constexpr size_t kLimitBytes = size_t{64} << 10;

  // `pipe` is the reading end, in non-blocking mode.
  explicit StderrTail(OwnedFd pipe) : pipe_(std::move(pipe)) {}

  // Returns -1 once all writers have closed the pipe.
  int fd() const { return pipe_.get(); }
  // Reads the text that is available now.
  void Read();
  // Forgets the text so far.
  void Clear();
  // Returns the end of the text, at most kLimitBytes, without a final newline.
  std::string Text() const;

 private:
  OwnedFd pipe_;
  std::string text_;
};

}  // namespace telemetry::worker::tune::process
