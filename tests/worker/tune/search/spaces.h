#pragma once

#include <string>
#include <vector>

#include "worker/codegen/config_space.h"

namespace telemetry::worker::tune::search {

// The config space of a library kernel.
struct NamedSpace {
  std::string name;
  codegen::ConfigSpace space;
};

// Returns the config spaces of all library kernels at their default sizes.
const std::vector<NamedSpace>& LibrarySpaces();
// Returns the config space of the library kernel with this name.
const codegen::ConfigSpace& LibraryConfigSpace(const std::string& kernel);
// Returns a config space that is small enough to try every config.
const codegen::ConfigSpace& TinySpace();

}  // namespace telemetry::worker::tune::search
