#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace telemetry::exporter {

// While it lives, the first SIGTERM or SIGINT asks for a stop instead of ending the program, so that what was begun can
// be removed; a second one ends the program as it stands. Make it before other threads, which inherit its signal mask.
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

}  // namespace telemetry::exporter
