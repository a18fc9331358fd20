#pragma once

#include <cstdint>
#include <cstdio>

#include "absl/time/time.h"

namespace telemetry::exporter {

// One line on a terminal that shows how far a count is; nothing at all where `out` is no terminal. Redrawn at most ten
// times a second, wiped out by the destructor. Not thread-safe.
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
