#include "worker/tune/tuned_search.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/tune/attempt_description.h"
#include "worker/tune/bound_call.h"

namespace telemetry::worker::tune {

using codegen::Config;
using record::Cat;
using runtime::Arguments;
using runtime::AutotuneOptions;
using runtime::BoundKernel;

namespace {

// Returns the options of a call: those of the search with the changes of `options`.
absl::StatusOr<TunerOptions> WithOptions(TunerOptions tuner, const BoundKernel& kernel,
                                         const AutotuneOptions& options) {
  search::SearchOptions& search = tuner.search;
  if (!options.effort.empty()) {
    ASSIGN_OR_RETURN(search.effort, search::ParseEffort(options.effort));
  }
  if (!options.algorithm.empty()) search.algorithm = options.algorithm;
  search.seed = options.seed.value_or(search.seed);
  tuner.time_budget = options.time_budget.value_or(tuner.time_budget);
  if (options.configs.empty()) return tuner;
  search.algorithm = "finite";
  search.max_configs.reset();
  search.finite_configs.clear();
  for (const Config& config : options.configs) {
    // A config that is not valid for this kernel stays as it is, and the search reports it.
    search.finite_configs.push_back(kernel.config_space().Normalize(config).value_or(config));
  }
  return tuner;
}

}  // namespace

TunedSearch::TunedSearch(BestConfigCache known, TunedSearchOptions options)
    : known_(std::move(known)), options_(std::move(options)) {}

absl::StatusOr<Config> TunedSearch::Find(BoundKernel& kernel, absl::Span<const runtime::Argument> arguments,
                                         const AutotuneOptions& options) {
  const Arguments call(arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(const v1::Run run, MakeCallRun(kernel, call));
  ASSIGN_OR_RETURN(TunerOptions tuner, WithOptions(options_.tuner, kernel, options));
  const absl::MutexLock lock(&mutex_);
  if (!options.force) {
    absl::StatusOr<Config> known = FindKnown(kernel, run, tuner);
    if (known.ok()) return known;
    if (!absl::IsNotFound(known.status())) spdlog::warn("{}: {}", kernel.name(), std::string(known.status().message()));
  }
  return Tune(kernel, call, run, std::move(tuner), options.force);
}

absl::StatusOr<Config> TunedSearch::FindKnown(const BoundKernel& kernel, const v1::Run& run,
                                              const TunerOptions& tuner) const {
  ASSIGN_OR_RETURN(BestConfig best, known_.Among(tuner.search.finite_configs).Find(run.run_id()));
  // The config may not fit this kernel: calls with other strides and other versions of the generator have the same run.
  absl::Status status = kernel.Generate(best.config).status();
  if (status.ok()) return std::move(best.config);
  return absl::Status(
      status.code(), Cat("the known config ", best.config.ToString(), " is not used: ", std::string(status.message())));
}

absl::StatusOr<Config> TunedSearch::Tune(BoundKernel& kernel, const Arguments& arguments, const v1::Run& run,
                                         TunerOptions tuner, bool force) {
  const std::string name = Cat(kernel.name(), " ", run.input_shapes(), " on ", run.hardware());
  if (options_.session == nullptr) {
    return absl::FailedPreconditionError(
        Cat("no config of ", name,
            " is known, and this search has no session to tune with; pass a session, "
            "set use_default_config, or copy the best configs of a program that tuned it"));
  }
  measure::ToleranceFunction tolerance = options_.tolerance;
  if (!tolerance) {
    tolerance = [&kernel](std::string_view /*name*/, device::DType dtype) { return UsualTolerance(kernel, dtype); };
  }
  ASSIGN_OR_RETURN(const TaskResult result,
                   options_.session->Tune(MakeCallSubject(kernel, arguments, std::move(tolerance)),
                                          DescribeAttempt(kernel, run), std::move(tuner), {.search_known = force}));
  if (result.tuned.stopped) return absl::CancelledError(Cat("the tuning of ", name, " was stopped"));
  if (result.tuned.ranking.best) return result.tuned.ranking.best->config;
  return absl::NotFoundError(
      Cat("no config of ", name, " ran with correct results; the rows of the attempt contain the failures"));
}

}  // namespace telemetry::worker::tune
