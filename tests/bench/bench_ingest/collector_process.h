#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telemetry::bench {

// The settings of a collector process, apart from its dataset.
struct CollectorOptions {
  int port = 0;                          // 0 takes a free one
  std::string host = "127.0.0.1";        // where it listens
  std::vector<std::string> flags;        // of serve, as on a command line
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's
  std::string log;                       // where its log goes; empty: to the dataset's name with .log
  uint64_t max_files = 0;                // how many files it may open (RLIMIT_NOFILE); 0: as many as this process
  bool metrics = false;                  // serve the metrics, too, on a free port
};

// A telemetry-collector of its own process, as an operator would start it. Not thread-safe. Ends the test program with
// a message when the collector does not start.
class CollectorProcess {
 public:
  // Serves `db`; port 0 takes a free one. Returns when the collector listens.
  static CollectorProcess Start(const std::string& db, int port = 0) {
    return Start(db, CollectorOptions{.port = port});
  }
  static CollectorProcess Start(const std::string& db, const CollectorOptions& options);

  CollectorProcess(CollectorProcess&& other) noexcept;
  CollectorProcess& operator=(CollectorProcess&& other) noexcept;
  // Kills it when it still runs.
  ~CollectorProcess();

  // HOST:PORT
  const std::string& address() const { return address_; }
  int port() const;
  // 0: there is none.
  int metrics_port() const { return metrics_port_; }
  pid_t pid() const { return pid_; }

  // kill -9.
  void Kill();
  // SIGTERM; returns the exit status (128 + signal where one ended it).
  int Stop();
  // The same of one that ends by itself.
  int AwaitEnd() { return pid_ < 0 ? -1 : Wait(); }

 private:
  CollectorProcess(pid_t pid, std::string address, int metrics_port)
      : pid_(pid), address_(std::move(address)), metrics_port_(metrics_port) {}
  int Wait();

  pid_t pid_ = -1;
  std::string address_;
  int metrics_port_ = 0;
};

// Path of a program that was built beside this one.
std::string ProgramPath(const std::string& name);

// Seconds of CPU that a process has used, and its resident memory now.
double CpuSeconds(pid_t pid);
double ResidentMib(pid_t pid);
// The most memory that it ever had resident.
double PeakMib(pid_t pid);

}  // namespace telemetry::bench
