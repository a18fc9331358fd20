#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/codegen/config_space.h"
#include "worker/replay/stored_run.h"

namespace telemetry::worker::replay {

// The search space of a replay. Its valid configs are exactly those that the dataset holds, so that a search never
// proposes another one: all algorithms respect an enumeration, whatever their neighbours and mixtures are. The
// parameters and their ranges are those of the stored values. Immutable; threads may share it.
class StoredSpace {
 public:
  // INVALID_ARGUMENT: the run has no configs.
  static absl::StatusOr<StoredSpace> Create(const StoredRun& run);

  const codegen::ConfigSpace& space() const { return space_; }
  // Returns the position in run.configs of a config that a search proposed, or nullopt if it is not stored.
  std::optional<size_t> Find(const codegen::Config& proposed) const;
  // The fraction of the combinations of the parameters' stored values that are stored, from 0 to 1. With a small
  // fraction, most neighbours of a config are missing, and algorithms that walk from neighbour to neighbour do worse
  // than on a device.
  double coverage() const { return coverage_; }

 private:
  class Enumeration;
  StoredSpace(codegen::ConfigSpace space, std::shared_ptr<const Enumeration> enumeration, double coverage)
      : space_(std::move(space)), enumeration_(std::move(enumeration)), coverage_(coverage) {}

  codegen::ConfigSpace space_;
  std::shared_ptr<const Enumeration> enumeration_;
  double coverage_ = 1;
};

}  // namespace telemetry::worker::replay
