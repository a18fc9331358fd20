#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "client/spool.h"
#include "client/wakeup.h"

namespace telemetry::client {

// A thread that fsyncs the spool so that no unacknowledged record waits longer than `interval`. Records that the
// collector acknowledges within the interval need no fsync.
class Syncer {
 public:
  // Starts the thread. `spool` must outlive the syncer. `on_notice` is called when fsync fails, once per outage.
  Syncer(Spool* spool, absl::Duration interval, std::function<void(const std::string&)> on_notice);
  // Stops the thread and fsyncs the remaining records.
  ~Syncer();

  // Reports that the log has grown. May be called from any thread.
  void Appended() {
    if (idle_.load() && idle_.exchange(false)) wakeup_.Notify();
  }

 private:
  void Run();
  void SyncOnce();

  Spool& spool_;
  const absl::Duration interval_;
  const std::function<void(const std::string&)> on_notice_;
  Wakeup wakeup_;
  std::atomic<bool> idle_ = false;
  std::atomic<bool> stopping_ = false;
  bool failing_ = false;  // used by the thread only
  std::thread thread_;    // declared last, because it uses all members above
};

}  // namespace telemetry::client
