#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/v1/dataset.pb.h"
#include "worker/compare/run_sides.h"

namespace telemetry::worker::compare {

// Builds the items of an export of one attempt.
class AttemptBuilder {
 public:
  explicit AttemptBuilder(const std::string& origin = "ci/1") { attempt().set_origin(origin); }

  v1::Attempt& attempt() { return *items_[0].mutable_attempt()->mutable_attempt(); }
  v1::AttemptSummary& summary() { return *items_[0].mutable_attempt(); }

  // Adds a row with details; returns the details.
  v1::MeasurementDetail& Row(uint64_t config, double perf_ms,
                             v1::MeasurementDetail::Stage stage = v1::MeasurementDetail::STAGE_SEARCH,
                             const std::string& status = "ok") {
    v1::ExportRows& rows = *items_[1].mutable_rows();
    v1::Measurement& row = *rows.add_measurements();
    row.set_seq(static_cast<uint64_t>(rows.measurements_size()));
    row.set_config_id(config);
    row.set_status(status);
    if (perf_ms > 0) row.set_perf_ms(perf_ms);
    v1::MeasurementDetail& detail = *rows.add_details();
    detail.set_seq(row.seq());
    detail.set_stage(stage);
    return detail;
  }
  // Adds the event that names the chosen config.
  void Selected(const std::string& config_id) {
    v1::ExportItem item;
    v1::AttemptEvent& event = *item.mutable_events()->add_events();
    event.set_name("selected");
    event.set_text("{\"event\": \"selected\", \"config_id\": \"" + config_id + "\"}");
    items_.push_back(std::move(item));
  }

  const std::vector<v1::ExportItem>& items() const { return items_; }

 private:
  std::vector<v1::ExportItem> items_ = std::vector<v1::ExportItem>(2);  // the attempt, its rows
};

// Returns an attempt whose times are all `ms`.
inline AttemptTimes AttemptOf(double ms, double sm_clock_mhz = 0, const std::string& host = "") {
  AttemptTimes attempt = {.host = host};
  for (const TimeKind kind : kTimeKinds) {
    MeasuredTime time = {.config_id = 1, .median = {.log = std::log(ms), .count = 1}};
    if (sm_clock_mhz > 0) time.sm_clock_mhz = sm_clock_mhz;
    attempt.Of(kind) = time;
  }
  return attempt;
}

// Returns attempts with times around `ms` that differ by 0.4% in total.
inline std::vector<AttemptTimes> AttemptsOf(double ms, size_t count, double sm_clock_mhz = 0,
                                            const std::string& host = "") {
  std::vector<AttemptTimes> attempts;
  for (size_t i = 0; i < count; ++i) {
    attempts.push_back(AttemptOf(ms * (1 + 0.002 * (static_cast<double>(i % 3) - 1)), sm_clock_mhz, host));
  }
  return attempts;
}

inline RunSides SidesOf(std::vector<AttemptTimes> base, std::vector<AttemptTimes> head,
                        const std::string& kernel = "softmax") {
  return {.key = {.kernel_name = kernel,
                  .input_shapes = "[(4096, 2560)]",
                  .dtypes = "['torch.float16']",
                  .hardware = "NVIDIA H200"},
          .base = std::move(base),
          .head = std::move(head)};
}

}  // namespace telemetry::worker::compare
