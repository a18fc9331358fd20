#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"

namespace telemetry::web::summary {

// The attempts whose times form a series: of one kernel, shapes, dtypes, device and sender. Keys of texts.
struct SeriesKey {
  int64_t name = 0;
  int64_t shapes = 0;
  int64_t dtypes = 0;
  int64_t hardware = 0;
  int64_t sender = 0;

  friend bool operator<(const SeriesKey& a, const SeriesKey& b) {
    return std::tie(a.name, a.shapes, a.dtypes, a.hardware, a.sender) <
           std::tie(b.name, b.shapes, b.dtypes, b.hardware, b.sender);
  }
};

// Stores the steps of the best and the default times of series. A series never contains attempts of two senders, so
// that no sender can add steps to another one's. Used by the writer of the summaries, inside its transactions.
class StepTable {
 public:
  explicit StepTable(storage::sql::Database& scratch);

  // Returns the series of a stored run.
  absl::StatusOr<SeriesKey> SeriesOf(int64_t run);
  // Detects the steps of a series again, in its newest attempts.
  absl::Status Detect(const SeriesKey& series);

 private:
  struct Point {
    int64_t attempt = 0;
    int64_t time_us = 0;
    double ms = 0;
  };
  absl::Status Store(const SeriesKey& series, const char* name, const std::vector<Point>& points);

  storage::sql::Statement series_;
  storage::sql::Statement points_;
  storage::sql::Statement remove_;
  storage::sql::Statement insert_;
};

}  // namespace telemetry::web::summary
