#include "worker/compare/side_collector.h"

#include <utility>

namespace telemetry::worker::compare {
namespace {

constexpr size_t kMostOrigins = 20;

RunKey KeyOf(const v1::Run& run, bool compares_devices) {
  return {.kernel_name = run.kernel_name(),
          .input_shapes = run.input_shapes(),
          .dtypes = run.dtypes(),
          .hardware = compares_devices ? "" : run.hardware(),
          .settings_signature = run.settings_signature()};
}

}  // namespace

void SideCollector::Take(const v1::ExportItem& item) {
  if (item.has_run()) {
    EndAttempt();
    run_ = item.run().run();
    run_.clear_kernel_source();
  } else if (item.has_attempt()) {
    EndAttempt();
    BeginAttempt(item.attempt());
  } else if (attempt_.has_value() && item.has_rows()) {
    attempt_->Add(item.rows());
  } else if (attempt_.has_value() && item.has_events()) {
    attempt_->Add(item.events());
  }
}

std::vector<RunSides> SideCollector::Finish() {
  EndAttempt();
  std::vector<RunSides> runs;
  runs.reserve(runs_.size());
  for (auto& [key, sides] : runs_) runs.push_back(std::move(sides));
  runs_.clear();
  return runs;
}

bool SideCollector::IsFilteredOut(const v1::AttemptSummary& attempt) const {
  return (!filter_.kernel_name().empty() && filter_.kernel_name() != run_.kernel_name()) ||
         (!filter_.hardware().empty() && filter_.hardware() != run_.hardware()) ||
         StartUnixUs(attempt) < filter_.since_unix_us();
}

void SideCollector::BeginAttempt(const v1::AttemptSummary& attempt) {
  if (IsFilteredOut(attempt)) return;
  if (origins_.size() < kMostOrigins) origins_.insert(attempt.attempt().origin());
  is_head_ = head_.Selects(run_, attempt);
  if (is_head_ || base_.Selects(run_, attempt)) attempt_.emplace(attempt.attempt());
}

void SideCollector::EndAttempt() {
  if (!attempt_.has_value()) return;
  const bool compares_devices = base_.kind() == Selector::Kind::kDevice && head_.kind() == Selector::Kind::kDevice;
  RunKey key = KeyOf(run_, compares_devices);
  RunSides& sides = runs_[key];
  sides.key = std::move(key);
  (is_head_ ? sides.head : sides.base).push_back(attempt_->Finish());
  ++(is_head_ ? head_attempts_ : base_attempts_);
  attempt_.reset();
}

}  // namespace telemetry::worker::compare
