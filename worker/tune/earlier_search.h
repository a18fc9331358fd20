#pragma once

#include <string>
#include <vector>

#include "worker/device/device.h"
#include "worker/tune/compile/code_folder.h"
#include "worker/tune/search/search_algorithm.h"

namespace telemetry::worker::tune {

// The results of the last complete search of a run with the same options, kept beside the code that it compiled. A
// search that is repeated follows them (SearchOptions::earlier), and finds its code there.
class EarlierSearch {
 public:
  // `options` is a text that is equal for equal options. `folder` must outlive the object.
  EarlierSearch(const compile::CodeFolder* folder, const std::string& options, const device::DeviceProperties& device);

  // Returns the results in their order; none if there was no such search.
  std::vector<search::Trial> Find() const;
  // Replaces the results. Errors are not reported, because only the choice of equally good configs depends on them.
  void Put(const std::vector<search::Trial>& results) const;

 private:
  const compile::CodeFolder& folder_;
  const std::string name_;
};

}  // namespace telemetry::worker::tune
