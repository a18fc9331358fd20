#include "server/export/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace telemetry::exporter {

ProgressBar::ProgressBar(std::FILE* out) : out_(out), is_terminal_(isatty(fileno(out)) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_at_ != absl::InfinitePast())
    std::fputs("\r\x1b[K", out_);  // returns to the beginning of the line and erases it
}

void ProgressBar::Update(uint64_t done, uint64_t total) {
  constexpr int kWidth = 40;
  if (!is_terminal_ || total == 0) return;
  const absl::Time now = absl::Now();
  if (now - drawn_at_ < absl::Milliseconds(100)) return;
  drawn_at_ = now;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const std::string filled(static_cast<size_t>(share * kWidth), '#');
  absl::FPrintF(out_, "\r[%-*s] %3.0f%%  %d of %d rows", kWidth, filled, share * 100, done, total);
  std::fflush(out_);
}

}  // namespace telemetry::exporter
