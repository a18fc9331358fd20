#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/dataset_client.h"
#include "client/producer.h"
#include "proto/access/credentials.h"
#include "worker/kernel/settings.h"
#include "worker/kernels/library.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/record/sidecar_log.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

struct SessionOptions {
  std::string collector;  // HOST:PORT; empty: nothing is sent
  access::Credentials credentials;
  // Spool, journals of attempts that go on, best configs. One process at a time where there is a collector.
  std::string state_dir;
  std::string origin;    // label of the CI job
  std::string log_base;  // of local sidecars; empty: none
  // Searches begin with what the best configs on this machine and the collector know of the kernel on this hardware.
  bool begin_with_known = true;
  uint64_t spool_limit_bytes = uint64_t{4} << 30;
  std::function<void(const std::string&)> on_notice;  // what a person should read; from any thread
};

// What to tune, and how.
struct TuneTask {
  const kernels::LibraryKernel* kernel = nullptr;
  kernels::Problem problem;
  Settings settings;
  std::string device;  // as OpenDevice takes it
  TunerOptions tuner;  // its starting points are added to those that the session knows
};

struct TaskResult {
  v1::Run run;
  TuneResult tuned;
};

// What attempts of one process share: the producer with its spool, the folder of journals and the best configs.
// Thread-safe: one task per device may run at a time.
class TuneSession {
 public:
  // INVALID_ARGUMENT: neither a collector nor a log. Other errors are Producer::Open's.
  static absl::StatusOr<std::unique_ptr<TuneSession>> Open(SessionOptions options);

  // An attempt, from where an earlier process with the same task left it. Puts the best config into the cache. Errors
  // are OpenDevice's, SubjectOf's, Journal::Open's, SidecarLog::Open's and Tune's.
  absl::StatusOr<TaskResult> Run(const TuneTask& task);
  // The same for what somebody else has bound; `info` says what it is. Errors are Journal::Open's, SidecarLog::Open's
  // and Tune's.
  absl::StatusOr<TaskResult> Tune(TuneSubject subject, AttemptInfo info, TunerOptions tuner);

  // Waits until the collector has everything. DEADLINE_EXCEEDED: not in that time; the spool keeps it.
  absl::Status Drain(absl::Duration timeout);

  const BestConfigCache& best_configs() const { return best_configs_; }
  // Records that the collector refused; each was said.
  uint64_t refused() const { return refused_; }
  // Null without a collector.
  client::Producer* producer() { return producer_.get(); }

 private:
  explicit TuneSession(SessionOptions options);

  absl::Status OpenProducer();
  // The caller's, then what is known. A collector that is away costs a second at most.
  std::vector<codegen::Config> StartingPoints(const v1::Run& run, const TunerOptions& tuner);
  // Of its own for each attempt; null without a base.
  absl::StatusOr<std::unique_ptr<SidecarLog>> OpenLog() const;
  // Keeps the best config of an attempt that has ended, and then no journal of it. What fails is said.
  void Conclude(const TaskResult& result, Journal* journal) const;
  void Notice(const std::string& text) const {
    if (options_.on_notice) options_.on_notice(text);
  }

  const SessionOptions options_;
  const BestConfigCache best_configs_;
  std::atomic<uint64_t> refused_ = 0;
  std::unique_ptr<client::Producer> producer_;
  std::unique_ptr<client::DatasetClient> dataset_;  // null without a collector, or where nobody asks it
};

// Where an attempt at this run with these options keeps its journal, below a session's state_dir.
std::string JournalName(const std::string& run_id, const TunerOptions& options, bool begin_with_known);

}  // namespace telemetry::worker::tune
