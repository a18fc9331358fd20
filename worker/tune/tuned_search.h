#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "worker/kernel/search.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/measure/kernel_problem.h"
#include "worker/tune/tune_session.h"
#include "worker/tune/tuner.h"

namespace telemetry::worker::tune {

struct TunedSearchOptions {
  // Tunes calls of which nothing is known, and records what it measures; must outlive the search. Null: such a call is
  // an error.
  TuneSession* session = nullptr;
  TunerOptions tuner;
  // Of the results. Empty: UsualTolerance.
  ToleranceOf tolerance;
};

// KernelSpec::search of programs that link this library: gives a call the best config that is known of it (its run;
// bound_call.h), else tunes it, which takes minutes and needs a main that begins with RunTuneChild. Forced to
// (BoundKernel::Autotune, the setting force_autotune), it always tunes. Thread-safe; one call is tuned at a time, and
// others wait.
class TunedSearch final : public Search {
 public:
  // `known`: the session's best_configs(), or the folder `best` in the --state-dir of telemetry-worker tune.
  TunedSearch(BestConfigCache known, TunedSearchOptions options);

  // FAILED_PRECONDITION: nothing is known and there is no session, or RunOfCall's. NOT_FOUND: no config ran and was
  // right. CANCELLED: stopped (TunerOptions::stop); the next call goes on. Other errors are TuneSession::Tune's.
  absl::StatusOr<codegen::Config> Find(BoundKernel& kernel, absl::Span<const Argument> arguments, bool force) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // NOT_FOUND: nothing is known that this kernel can be.
  absl::StatusOr<codegen::Config> FindKnown(const BoundKernel& kernel, const v1::Run& run) const;
  absl::StatusOr<codegen::Config> Tune(BoundKernel& kernel, const Arguments& arguments, const v1::Run& run)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BestConfigCache known_;
  const TunedSearchOptions options_;
  absl::Mutex mutex_;
};

}  // namespace telemetry::worker::tune
