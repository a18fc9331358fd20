#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tests/bench/bench_ingest/collector_process.h"
#include "tests/faults/attacks/attack.h"

namespace telemetry::faults {

// A separate process (hostile-client) that attacks a collector until this object is destroyed. Not thread-safe.
class AttackProcess {
 public:
  // Creates `tally_file`, which must not exist yet. `host` is as in Target.
  AttackProcess(const Attack& attack, const bench::CollectorProcess& collector, uint32_t host,
                const std::string& tally_file);
  ~AttackProcess();
  AttackProcess(const AttackProcess&) = delete;
  AttackProcess& operator=(const AttackProcess&) = delete;

  // Waits until the attacker has counted something in its tally, however long that takes on a busy machine. Returns
  // false if the attacker ended before.
  bool AwaitBegin() const;
  // Ends the attacker. Returns false if it had already ended.
  bool Stop();
  // Returns the tally with its unit, such as "1200 connections".
  std::string Done() const;

 private:
  // Does not reap the process, so that its id stays valid.
  bool HasEnded() const;

  const std::string unit_;
  Tally tally_;
  pid_t pid_ = -1;
};

}  // namespace telemetry::faults
