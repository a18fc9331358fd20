#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/dataset_client.h"
#include "client/producer.h"
#include "proto/access/credentials.h"
#include "proto/record/json.h"
#include "worker/codegen/config.h"
#include "worker/codegen/config_space.h"
#include "worker/device/device.h"
#include "worker/kernels/library.h"
#include "worker/runtime/settings.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/journal.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/recording/sidecar_log.h"
#include "worker/tune/shared_cache.h"
#include "worker/tune/tunable_kernel.h"
#include "worker/tune/tuner.h"
#include "worker/tune/tuning_turn.h"

namespace telemetry::worker::tune {

// The options of TuneSession::Open.
struct SessionOptions {
  std::string collector;  // HOST:PORT; empty: nothing is sent
  access::Credentials credentials;
  // The folder of the spool, the journals of unfinished attempts, compiled code and the best configs. With a collector,
  // only one process at a time can use it.
  std::string state_dir;
  std::string origin;    // label of the CI job
  std::string log_base;  // base path of local sidecars; empty: none are written
  // Use the best known configs of the kernel on this hardware, from this machine and from the collector: confirm those
  // of the same run, and begin searches with the others. Searches also know the collector's results of related runs
  // (related_rows.h).
  bool begin_with_known = true;
  // The longest time that an attempt waits for another worker that tunes the same run (AwaitTurn). Unset: it takes
  // no lease.
  std::optional<absl::Duration> longest_wait = absl::Minutes(30);
  uint64_t spool_limit_bytes = uint64_t{4} << 30;
  // Optional. Returns configs for the first generation of a search, which follow the known ones, such as those that a
  // cost model expects to be fast. Not called for an attempt that confirms known configs or that resumes.
  std::function<std::vector<codegen::Config>(const v1::Run& run, const device::DeviceProperties& device,
                                             const codegen::ConfigSpace& space)>
      suggest;
  // Optional. Returns a cost model's predictions for the configs of a run (search::SearchOptions::predict). Also called
  // for an attempt that resumes. A resumed search with another model than before proposes other configs, and keeps the
  // rows of the attempt.
  std::function<search::PredictTime(const v1::Run& run, const device::DeviceProperties& device)> predict;
  std::function<void(const std::string&)> on_notice;  // receives messages for the user, from any thread; may be empty
};

// The behaviour of an attempt if other attempts at its run are known or under way.
struct AttemptRules {
  // True: search also if a complete attempt is known. False: confirm it, that is, measure the configs of its final
  // again.
  bool search_known = false;
  // True: if another worker tunes this run, return ABORTED instead of waiting for it.
  bool may_come_back = false;
};

// A library kernel to tune, with its arguments and options.
struct TuneTask {
  const kernels::LibraryKernel* kernel = nullptr;
  kernels::Problem problem;
  runtime::Settings settings;
  std::string device;  // an argument of OpenDevice
  TunerOptions tuner;  // its starting points come before the known configs
  AttemptRules rules;
};

// The run and the result of a tuning task.
struct TaskResult {
  v1::Run run;
  TuneResult tuned;
};

// The state that the attempts of one process share: the producer with its spool, the folder of journals and the best
// configs. Thread-safe; at most one task per device may run at a time.
class TuneSession {
 public:
  // Returns INVALID_ARGUMENT if neither a collector nor a log is given. Other errors are those of Producer::Open.
  static absl::StatusOr<std::unique_ptr<TuneSession>> Open(SessionOptions options);

  // Runs an attempt, or resumes the unfinished attempt of an earlier process with the same task. If a complete attempt
  // at the run is known, by this machine or the collector, confirms it unless a search is wanted: measures the configs
  // of its final and the default config. If none of them gives correct results, searches after all. Stores the best
  // config in best_configs(). Returns the errors of OpenDevice, MakeLibrarySubject, Journal::Open, SidecarLog::Open,
  // AwaitTurn and tune::Tune.
  absl::StatusOr<TaskResult> Run(const TuneTask& task);
  // Does the same for a kernel that the caller has bound; `info` describes the attempt. Returns the errors of
  // Journal::Open, SidecarLog::Open and tune::Tune.
  absl::StatusOr<TaskResult> Tune(const TuneSubject& subject, recording::AttemptInfo info, TunerOptions tuner,
                                  const AttemptRules& rules = {});

  // Waits until the collector has acknowledged every record. Returns DEADLINE_EXCEEDED if it has not within `timeout`;
  // the spool keeps the rest.
  absl::Status Drain(absl::Duration timeout);

  // The folder in which all attempts of the session keep compiled code (CompilePoolOptions::code_folder).
  std::string code_folder() const;

  const BestConfigCache& best_configs() const { return best_configs_; }
  // The number of records that the collector refused. Each refusal was a notice.
  uint64_t refused() const { return refused_; }
  // Null without a collector.
  client::Producer* producer() { return producer_.get(); }

 private:
  explicit TuneSession(SessionOptions options);

  absl::Status OpenProducer();
  struct Preparation;

  // Decides whether to resume, to confirm or to search, and waits for the turn to search. Changes `tuner` accordingly.
  absl::StatusOr<Preparation> Prepare(const v1::Run& run, const TunableKernel& kernel, const AttemptRules& rules,
                                      TunerOptions* tuner);
  absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const v1::Run& run, const TunerOptions& tuner) const;
  // Takes the lease of the run, which TurnOptions::longest_wait limits.
  absl::StatusOr<Turn> TakeTurn(const std::string& run_id, const TunerOptions& tuner, bool may_wait,
                                bool may_come_back);
  // Returns what is known of the run. Waits at most one second for a collector that is down.
  KnownConfigs FindKnown(const v1::Run& run);
  // Runs the attempt that is prepared.
  absl::StatusOr<TaskResult> RunAttempt(TuneSubject subject, recording::AttemptInfo info, TunerOptions tuner,
                                        Preparation preparation);
  // Opens a log for one attempt; returns null without log_base.
  absl::StatusOr<std::unique_ptr<recording::SidecarLog>> OpenLog() const;
  // Stores the best config of an attempt that has ended, here and in the collector's cache, then removes its journal.
  // The choice among a list of configs is stored only here, apart from the best config of the run, and so is the best
  // config if others may not see it. Errors are notices.
  void Conclude(const TaskResult& result, const std::vector<codegen::Config>& among, bool may_share,
                const record::Json& versions, Journal* journal);
  // Puts the config into the collector's cache. Waits at most one second. The first error is a notice.
  void Share(const BestConfig& best, const record::Json& versions);
  void Notice(const std::string& text) const {
    if (options_.on_notice) options_.on_notice(text);
  }

  const SessionOptions options_;
  const BestConfigCache best_configs_;
  std::atomic<uint64_t> refused_ = 0;
  std::unique_ptr<client::Producer> producer_;
  std::unique_ptr<client::DatasetClient> dataset_;  // null without a collector or without begin_with_known
  std::unique_ptr<SharedCache> shared_cache_;       // null without a collector
  std::atomic<bool> said_not_shared_ = false;       // a notice said that a config was not put into the cache
  std::atomic<bool> said_no_lease_ = false;         // a notice said that a run is tuned without a lease
};

// Returns the path, below a session's state_dir, of the journal of an attempt at this run with these options.
std::string JournalName(const std::string& run_id, const TunerOptions& options, bool begin_with_known);

}  // namespace telemetry::worker::tune
