#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "client/spool.h"
#include "client/wakeup.h"

namespace telemetry::client {

// Forces the spool to the disk so that no record waits longer than `interval` for it, in a thread of its own. Records
// that the collector acknowledges within that time need not touch the disk at all.
class Syncer {
 public:
  // `spool` outlives the syncer. `on_notice` is told when the disk fails, once until it works again.
  Syncer(Spool* spool, absl::Duration interval, std::function<void(const std::string&)> on_notice);
  // Forces what is left to the disk.
  ~Syncer();

  // Any thread: the log has grown.
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
  bool failing_ = false;  // the thread's own
  std::thread thread_;    // last: it uses all of the above
};

}  // namespace telemetry::client
