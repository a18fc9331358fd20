#include "server/storage/postgresql/pg_retention.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::storage::postgresql {
PgRetention::Pass::Pass(PgDatabase& database, const PruneRules& rules, const tables::PruneReach& reach,
                        const tables::PruneStepLimits& limits)
    : space(database),
      remover(database, tables::AttemptRemover::Rows::kLater),
      pruner(database, space, remover, rules, reach, limits),
      removed_rows(database) {}

absl::Status PgRetention::BeginPass(const PruneRules& rules, std::optional<absl::Time> trusted_now) {
  ASSIGN_OR_RETURN(const tables::PruneReach reach, trusted_now ? tables::ReachByClock(database_, rules, *trusted_now)
                                                               : tables::ComputeReach(database_, rules));
  pass_.emplace(database_, rules, reach, limits_);
  return pass_->space.UsedBytes().status();
}

absl::StatusOr<std::optional<PruneStep>> PgRetention::Step(const PruneRules& rules,
                                                           std::optional<absl::Time> trusted_now) {
  // The lock of a lost connection may have passed to another process.
  if (!lock_.is_held()) pass_.reset();
  ASSIGN_OR_RETURN(const bool is_mine, lock_.TryHold());
  if (!is_mine) return std::nullopt;
  if (!pass_) {
    RETURN_IF_ERROR(BeginPass(rules, trusted_now));
    return PruneStep();
  }
  // The next pass, perhaps in another process, needs statistics that include this step.
  RETURN_IF_ERROR(database_.Execute("SELECT pg_stat_force_next_flush()"));
  ASSIGN_OR_RETURN(PruneStep step, StepOfPass());
  return step;
}

absl::StatusOr<PruneStep> PgRetention::StepOfPass() {
  PruneStep step;
  if (pass_->are_rows_left) {
    ASSIGN_OR_RETURN(const PgRemovedRows::Deleted deleted, pass_->removed_rows.DeleteSome());
    pass_->are_rows_left = !deleted.is_done;
    step.rows = deleted.measurements;
    step.bytes = pass_->space.Subtract(deleted.measurements + deleted.events);
    return step;
  }
  ASSIGN_OR_RETURN(PruneStep pruned, pass_->pruner.RemoveSomeInTransaction());
  pass_->are_rows_left = !pruned.attempts.empty();
  pruned.done = pruned.done && pruned.attempts.empty();
  pruned.rows = 0;  // counted when they are deleted
  return pruned;
}

absl::Status PgRetention::End() {
  pass_.reset();
  return lock_.Release();
}

}  // namespace telemetry::storage::postgresql
