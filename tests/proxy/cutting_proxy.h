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

// A TCP load balancer that connects each client to a random target. After a random number of bytes to the target, it
// closes both ends as soon as the target's next response arrives, so that the request is carried out but its response
// is lost. Thread-safe.
class CuttingProxy {
 public:
  // Listens on a free port of 127.0.0.1 and connects to these ports of the same address.
  CuttingProxy(std::vector<int> target_ports, unsigned seed);

  std::string address() const;
  // Blocks until `count` responses were cut off. Returns false if they were not within the timeout.
  bool AwaitCuts(int count, absl::Duration timeout);
  // Stops cutting connections.
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
