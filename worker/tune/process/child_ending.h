#pragma once

#include <string>

namespace telemetry::worker::tune::process {

// The end of a process: its exit status or the signal that killed it.
struct ChildEnding {
  int exit_status = -1;  // -1: killed by a signal, or not known
  int signal = 0;        // 0: none

  // Returns a name such as "SIGSEGV"; "" without a signal.
  std::string SignalName() const;
  // Returns a text such as "was killed by SIGSEGV (Segmentation fault)" or "exited with status 3".
  std::string Describe() const;

  // `wait_status` is the status that waitpid returned.
  static ChildEnding FromWaitStatus(int wait_status);
};

}  // namespace telemetry::worker::tune::process
