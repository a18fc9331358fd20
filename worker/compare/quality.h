#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/compare/attempt_times.h"
#include "worker/compare/run_sides.h"

namespace telemetry::worker::compare {

// Returns the median clock of the multiprocessors over the attempts that know it, in megahertz; nullopt: none does.
std::optional<double> ClockOf(const std::vector<AttemptTimes>& attempts, TimeKind kind);

// The usual spread of the samples of each kernel on each device: the median over all attempts of a comparison, of both
// sides and all shapes. Immutable.
class UsualSpreads {
 public:
  explicit UsualSpreads(const std::vector<RunSides>& runs);

  // Returns the usual interquartile range relative to the median; nullopt: fewer than five attempts of the kernel on
  // the device have samples.
  std::optional<double> Of(const RunKey& key) const;

 private:
  using Place = std::pair<std::string, std::string>;  // kernel and device

  static Place PlaceOf(const RunKey& key) { return {key.kernel_name, key.hardware}; }

  std::map<Place, double> usual_;
};

// Returns remarks on the measurements of a run: a side with a clock 2% below the other's; attempts with a clock 3%
// below the median of all attempts of the run; attempts with samples that were discarded because of a low clock; and
// attempts whose samples spread more than three times as much as usual, and more than 1%, as samples do beside another
// program. There is no remark on spreads if the usual one is not known. A neighbour that was always there is not
// noticed: its spread is the usual one.
std::vector<std::string> RemarksOn(const RunSides& run, const UsualSpreads& spreads);

// Returns a remark for each machine on which the attempts are slower than those of the same side of the same runs on
// other machines: by at least 2% at the median of at least three runs.
std::vector<std::string> RemarksOnHosts(const std::vector<RunSides>& runs);

}  // namespace telemetry::worker::compare
