#pragma once

#include <signal.h>

#include <atomic>
#include <stop_token>
#include <thread>

namespace telemetry::cli {

// Blocks SIGTERM and SIGINT in this thread and in threads that it starts later, so that one thread can wait for them.
// Returns the two signals.
sigset_t BlockEndSignals();

// Installs handlers for SIGTERM and SIGINT and returns the flag that they set. A second signal of the same kind ends
// the program.
const std::atomic<bool>& StopOnEndSignals();

// A handler of SIGTERM and SIGINT. While the object exists, the first signal requests a stop instead of ending the
// program, so that temporary files can be removed. A second signal ends the program at once. Must be created before
// other threads, which inherit its signal mask.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  std::stop_token stop() const { return stop_.get_token(); }

 private:
  void Run();

  std::stop_source stop_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace telemetry::cli
