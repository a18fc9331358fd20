#include "client/syncer.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace telemetry::client {

Syncer::Syncer(Spool* spool, absl::Duration interval, std::function<void(const std::string&)> on_notice)
    : spool_(*spool), interval_(interval), on_notice_(std::move(on_notice)), thread_([this] { Run(); }) {}

Syncer::~Syncer() {
  stopping_ = true;
  wakeup_.Notify();
  thread_.join();
  SyncOnce();
}

void Syncer::Run() {
  uint64_t seen_seq = 0;  // appended_seq of the previous iteration
  while (!stopping_) {
    const SpoolState log = spool_.state();
    if (log.appended_seq <= log.durable_seq) {
      idle_ = true;
      if (spool_.state().appended_seq > log.appended_seq) continue;
      wakeup_.WaitUntil(kNever);
      continue;
    }
    if (seen_seq > log.durable_seq) SyncOnce();
    seen_seq = log.appended_seq;
    // Two iterations fit into the interval: the second one syncs the records that the first one saw unsynced.
    wakeup_.WaitUntil(SteadyAfter(interval_ / 2));
  }
}

void Syncer::SyncOnce() {
  const absl::Status status = spool_.Sync();
  if (!status.ok() && !std::exchange(failing_, true) && on_notice_) {
    on_notice_(absl::StrCat("cannot sync the spool to the disk: ", status.message()));
  }
  if (status.ok()) failing_ = false;
}

}  // namespace telemetry::client
