#pragma once

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/proxy/proxy.h"

namespace telemetry::proxy {

// A TCP load balancer that sends each connection to one of its targets at random, forwards a random number of bytes
// towards it, goes on forwarding, and closes both ends when the target's next answer comes: what was asked for is done,
// and nobody learns of it. Thread-safe.
class CuttingProxy {
 public:
  // Listens on a free port of 127.0.0.1 and connects to the ports there.
  CuttingProxy(std::vector<int> target_ports, unsigned seed);

  std::string address() const;
  // Waits until so many answers were cut off. False: not within the time.
  bool AwaitCuts(int count, absl::Duration timeout);
  // From now on it cuts nothing.
  void Behave() { behaving_ = true; }

 private:
  class Connection;
  std::unique_ptr<Proxy::Connection> Accepted();

  const std::vector<int> target_ports_;
  int port_ = 0;
  std::atomic<bool> behaving_ = false;
  absl::Mutex mutex_;
  int cuts_ ABSL_GUARDED_BY(mutex_) = 0;
  std::mt19937 random_;  // the accepting thread's
  std::unique_ptr<Proxy> proxy_;
};

}  // namespace telemetry::proxy
