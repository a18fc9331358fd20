#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace telemetry::faults {

// A TCP proxy that, on each connection, forwards a random number of bytes towards the collector, goes on forwarding,
// and closes both ends when the collector's next answer comes: what was asked for is done, and nobody learns of it.
// Thread-safe.
class CuttingProxy {
 public:
  // Listens on a free port of 127.0.0.1 and connects to `target_port` there.
  CuttingProxy(int target_port, unsigned seed);
  ~CuttingProxy();

  std::string address() const;
  // Waits until so many answers were cut off. False: not within the time.
  bool AwaitCuts(int count, absl::Duration timeout);
  // From now on it cuts nothing.
  void Behave() { behaving_ = true; }

 private:
  void Accept();
  void Serve(int client, uint64_t cut_after);
  void CountCut();

  const int target_port_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> behaving_ = false;
  std::atomic<bool> stopping_ = false;
  absl::Mutex mu_;
  int cuts_ ABSL_GUARDED_BY(mu_) = 0;
  std::mt19937 random_;                   // the accepting thread's
  std::vector<std::thread> connections_;  // the accepting thread's
  std::thread accepting_;
};

}  // namespace telemetry::faults
