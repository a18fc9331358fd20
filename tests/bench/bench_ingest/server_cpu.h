#pragma once

#include <sys/types.h>

#include <string>

namespace telemetry::bench {

// The CPU time of a PostgreSQL server on this machine.
class ServerCpu {
 public:
  // Finds the server behind `url`. Ends the program where there is none.
  explicit ServerCpu(const std::string& url);

  // Seconds of CPU that all its processes have used, those that ended too. 0: it is on another machine.
  double Seconds() const;

 private:
  pid_t postmaster_ = 0;  // 0: on another machine
};

}  // namespace telemetry::bench
