#pragma once

#include <sys/types.h>

#include <string>

namespace telemetry::bench {

// The CPU time of a PostgreSQL server on this machine.
class ServerCpu {
 public:
  // Connects to the server of `url` and finds its main process. Ends the program if the server cannot be reached.
  explicit ServerCpu(const std::string& url);

  // Returns the CPU time that all processes of the server have used, in seconds, including processes that have ended.
  // 0: the server is on another machine.
  double Seconds() const;

 private:
  pid_t postmaster_ = 0;  // 0: the server is on another machine
};

}  // namespace telemetry::bench
