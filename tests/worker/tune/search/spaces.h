#pragma once

#include <string>
#include <vector>

#include "worker/codegen/config.h"

namespace telemetry::worker::tune {

struct NamedSpace {
  std::string name;
  codegen::ConfigSpace space;
};

// What there is to search for each kernel of the library at its default sizes.
const std::vector<NamedSpace>& LibrarySpaces();
// Of the kernel of that name.
const codegen::ConfigSpace& SpaceOf(const std::string& kernel);
// Of a kernel with so little to choose that every config can be tried.
const codegen::ConfigSpace& TinySpace();

}  // namespace telemetry::worker::tune
