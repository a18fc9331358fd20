#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telemetry::bench {

// The settings of a collector process, apart from its dataset.
struct CollectorOptions {
  int port = 0;                          // 0 selects a free port
  std::string host = "127.0.0.1";        // the address to listen on
  std::vector<std::string> flags;        // flags of the serve command
  std::vector<std::string> environment;  // NAME=VALUE, added to the environment of this process
  std::string log;                       // the file of the log; empty: the dataset's name with ".log"
  uint64_t max_files = 0;                // RLIMIT_NOFILE of the collector; 0: as in this process
  bool metrics = false;                  // also serve metrics on a free port
};

// A telemetry-collector that runs in a separate process, started as an operator starts it. Not thread-safe. Ends the
// test program with a message if the collector does not start.
class CollectorProcess {
 public:
  // Starts a collector that serves `db`; port 0 selects a free port. Returns when the collector listens.
  static CollectorProcess Start(const std::string& db, int port = 0) {
    return Start(db, CollectorOptions{.port = port});
  }
  static CollectorProcess Start(const std::string& db, const CollectorOptions& options);

  CollectorProcess(CollectorProcess&& other) noexcept;
  CollectorProcess& operator=(CollectorProcess&& other) noexcept;
  // Kills the collector if it still runs.
  ~CollectorProcess();

  // HOST:PORT
  const std::string& address() const { return address_; }
  int port() const;
  // Returns the port of the metrics; 0 if the collector serves none.
  int metrics_port() const { return metrics_port_; }
  pid_t pid() const { return pid_; }

  // Sends SIGKILL.
  void Kill();
  // Sends SIGTERM and returns the exit status, or 128 + the number of the signal that ended the collector.
  int Stop();
  // Waits for a collector that ends by itself; returns the same status as Stop.
  int AwaitEnd() { return pid_ < 0 ? -1 : Wait(); }

 private:
  CollectorProcess(pid_t pid, std::string address, int metrics_port)
      : pid_(pid), address_(std::move(address)), metrics_port_(metrics_port) {}
  int Wait();

  pid_t pid_ = -1;
  std::string address_;
  int metrics_port_ = 0;
};

// Returns the path of a program that was built into the same folder as this one.
std::string ProgramPath(const std::string& name);

// Return the CPU time that a process has used, in seconds, and its current resident memory.
double CpuSeconds(pid_t pid);
double ResidentMib(pid_t pid);
// Returns the peak resident memory of a process.
double PeakMib(pid_t pid);

}  // namespace telemetry::bench
