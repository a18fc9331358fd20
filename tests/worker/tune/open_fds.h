#pragma once

#include <filesystem>
#include <iterator>

namespace telemetry::worker::tune {

// Returns the number of open file descriptors of this process.
inline int OpenFds() {
  // The count includes the iterator's own descriptor, in every call.
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

}  // namespace telemetry::worker::tune
