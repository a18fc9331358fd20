#pragma once

#include <string>

namespace telemetry::worker::tune {

// How a process ended.
struct ChildEnding {
  int exit_status = -1;  // -1: a signal ended it, or nobody knows
  int signal = 0;        // 0: none

  // "SIGSEGV"; "" without a signal.
  std::string SignalName() const;
  // "was ended by SIGSEGV (Segmentation fault)", "exited with status 3".
  std::string Describe() const;

  // `wait_status` as waitpid gives it.
  static ChildEnding FromWaitStatus(int wait_status);
};

}  // namespace telemetry::worker::tune
