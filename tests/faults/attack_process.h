#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/attacks/attack.h"

namespace telemetry::faults {

// A process of its own (hostile-client) that makes an attack for as long as this lives. Not thread-safe.
class AttackProcess {
 public:
  // `tally_file`: made for it, and not there yet. `host`: as in Target.
  AttackProcess(const Attack& attack, const bench::CollectorProcess& collector, uint32_t host,
                const std::string& tally_file);
  ~AttackProcess();
  AttackProcess(const AttackProcess&) = delete;
  AttackProcess& operator=(const AttackProcess&) = delete;

  // Waits until it has done something. False: it has not within `patience`.
  bool AwaitBegin(absl::Duration patience) const;
  // Ends it. False: it had ended before.
  bool Stop();
  // "1200 connections"
  std::string Done() const;

 private:
  const std::string unit_;
  Tally tally_;
  pid_t pid_ = -1;
};

}  // namespace telemetry::faults
