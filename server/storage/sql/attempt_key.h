#pragma once

#include <cstdint>

namespace telemetry::storage {

// Where an attempt's rows lie.
struct AttemptKey {
  int64_t run = 0;
  int64_t attempt = 0;

  friend bool operator==(const AttemptKey&, const AttemptKey&) = default;
};

}  // namespace telemetry::storage
