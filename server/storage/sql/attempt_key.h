#pragma once

#include <cstdint>

namespace telemetry::storage::sql {

// The primary keys of an attempt and of its run, which together locate the attempt's rows.
struct AttemptKey {
  int64_t run = 0;
  int64_t attempt = 0;

  friend bool operator==(const AttemptKey&, const AttemptKey&) = default;
};

}  // namespace telemetry::storage::sql
