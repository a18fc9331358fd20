#pragma once

#include <cstdint>
#include <cstdio>

#include "absl/time/time.h"

namespace telemetry::exporter {

// A progress bar in one line on a terminal. It prints nothing if `out` is not a terminal. It is redrawn at most ten
// times per second and erased by the destructor. Not thread-safe.
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* out);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Update(uint64_t done, uint64_t total);

 private:
  std::FILE* const out_;
  const bool is_terminal_;
  absl::Time drawn_at_ = absl::InfinitePast();
};

}  // namespace telemetry::exporter
