#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/v1/dataset.pb.h"
#include "worker/compare/attempt_reader.h"
#include "worker/compare/run_sides.h"
#include "worker/compare/selector.h"

namespace telemetry::worker::compare {

// Sorts the attempts of an export by run and side, item by item. Keeps only the times of the selected attempts, so that
// an export of any size may pass through. Not thread-safe.
class SideCollector {
 public:
  // `base` and `head` must outlive the object. An attempt that both select belongs to the head. Of the filter, the
  // kernel, the hardware and the time are applied, for items that were not filtered yet.
  SideCollector(const Selector& base, const Selector& head, v1::Filter filter = {})
      : base_(base), head_(head), filter_(std::move(filter)) {}

  // Takes the next item, in the order of DatasetService.Export.
  void Take(const v1::ExportItem& item);
  // Ends the last attempt. Returns the runs with an attempt of a side, ordered by key.
  std::vector<RunSides> Finish();

  // The number of selected attempts.
  size_t base_attempts() const { return base_attempts_; }
  size_t head_attempts() const { return head_attempts_; }
  // Up to 20 origins of the export, for the user who mistyped one.
  const std::set<std::string>& origins() const { return origins_; }

 private:
  bool IsFilteredOut(const v1::AttemptSummary& attempt) const;
  void BeginAttempt(const v1::AttemptSummary& attempt);
  void EndAttempt();

  const Selector& base_;
  const Selector& head_;
  const v1::Filter filter_;
  v1::Run run_;
  std::optional<AttemptReader> attempt_;  // unset: the current attempt is not selected
  bool is_head_ = false;
  std::map<RunKey, RunSides> runs_;
  size_t base_attempts_ = 0;
  size_t head_attempts_ = 0;
  std::set<std::string> origins_;
};

}  // namespace telemetry::worker::compare
