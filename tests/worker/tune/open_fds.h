#pragma once

#include <filesystem>
#include <iterator>

namespace telemetry::worker::tune {

// How many descriptors this process has open.
inline int OpenFds() {
  // The iterator's own is among them, each time.
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

}  // namespace telemetry::worker::tune
