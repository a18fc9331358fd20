#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "worker/runtime/search.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/tune_session.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

// The options of TunedSearch.
struct TunedSearchOptions {
  // Tunes calls without a known config and records the measurements; must outlive the search. Null: a call without a
  // known config is an error.
  TuneSession* session = nullptr;
  TunerOptions tuner;
  // The tolerance of the results. Empty: UsualTolerance.
  measure::ToleranceFunction tolerance;
};

// The KernelSpec::search of programs that link this library. Returns the best known config of a call's run
// (bound_call.h). Tunes the call if no config is known, which takes minutes and needs a main that begins with
// RunTuneChild. Always tunes if forced to (BoundKernel::Autotune, the setting force_autotune). Thread-safe; one call is
// tuned at a time, and others wait.
class TunedSearch final : public runtime::Search {
 public:
  // `known` is the session's best_configs(), or the folder `best` in the --state-dir of telemetry-worker tune.
  TunedSearch(BestConfigCache known, TunedSearchOptions options);

  // Returns FAILED_PRECONDITION if no config is known and there is no session, or if MakeCallRun does; NOT_FOUND if no
  // config ran with correct results; CANCELLED if the tuning was stopped (TunerOptions::stop), in which case the next
  // call resumes it. INVALID_ARGUMENT: an option is not valid. Other errors are those of TuneSession::Tune.
  //
  // With a list of configs, measures these and no others, like any other attempt: in processes of their own, on a cold
  // cache, with verified results and a final. The choice is known to later calls with the same list.
  absl::StatusOr<codegen::Config> Find(runtime::BoundKernel& kernel, absl::Span<const runtime::Argument> arguments,
                                       const runtime::AutotuneOptions& options) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Returns NOT_FOUND if no config of the run is known, or an error if the known config does not fit this kernel.
  absl::StatusOr<codegen::Config> FindKnown(const runtime::BoundKernel& kernel, const v1::Run& run,
                                            const TunerOptions& tuner) const;
  absl::StatusOr<codegen::Config> Tune(runtime::BoundKernel& kernel, const runtime::Arguments& arguments,
                                       const v1::Run& run, TunerOptions tuner, bool force)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BestConfigCache known_;
  const TunedSearchOptions options_;
  absl::Mutex mutex_;
};

}  // namespace telemetry::worker::tune
