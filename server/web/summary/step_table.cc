#include "server/web/summary/step_table.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/statistics/steps.h"

namespace telemetry::web::summary {
namespace {

// The newest attempts of a series in which steps are detected.
constexpr int64_t kMostPoints = 400;

}  // namespace

StepTable::StepTable(storage::sql::Database& scratch)
    : series_(scratch, "SELECT name, shapes, dtypes, hardware, sender FROM runs WHERE run = ?1"),
      points_(scratch,
              "SELECT a.attempt, a.time_us, a.best_ms, a.default_ms FROM runs AS r "
              "JOIN attempts AS a ON a.run = r.run WHERE r.name = ?1 AND r.shapes = ?2 AND r.dtypes = ?3 "
              "AND r.hardware = ?4 AND r.sender = ?5 AND a.state <> 'open' "
              "ORDER BY a.time_us DESC, a.attempt DESC LIMIT ?6"),
      remove_(scratch,
              "DELETE FROM steps WHERE name = ?1 AND shapes = ?2 AND dtypes = ?3 AND hardware = ?4 AND sender = ?5"),
      insert_(scratch,
              "INSERT INTO steps (name, shapes, dtypes, hardware, sender, series, time_us, attempt, before_attempt, "
              "before_ms, after_ms, ratio, low, high, is_newest) "
              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)") {}

absl::StatusOr<SeriesKey> StepTable::SeriesOf(int64_t run) {
  ASSIGN_OR_RETURN(const bool found, series_.Bind(run).Step());
  if (!found) return SeriesKey();
  const SeriesKey key = {.name = series_.Int(0),
                         .shapes = series_.Int(1),
                         .dtypes = series_.Int(2),
                         .hardware = series_.Int(3),
                         .sender = series_.Int(4)};
  series_.Reset();
  return key;
}

absl::Status StepTable::Detect(const SeriesKey& key) {
  std::vector<Point> best;
  std::vector<Point> of_default;
  points_.Bind(key.name, key.shapes, key.dtypes, key.hardware, key.sender, kMostPoints);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, points_.Step());
    if (!found) break;
    const Point point = {.attempt = points_.Int(0), .time_us = points_.Int(1)};
    for (auto [column, points] : {std::pair(2, &best), std::pair(3, &of_default)}) {
      if (points_.IsNull(column) || points_.Double(column) <= 0) continue;
      points->push_back(point);
      points->back().ms = points_.Double(column);
    }
  }
  std::reverse(best.begin(), best.end());
  std::reverse(of_default.begin(), of_default.end());
  RETURN_IF_ERROR(remove_.Bind(key.name, key.shapes, key.dtypes, key.hardware, key.sender).Run());
  RETURN_IF_ERROR(Store(key, "best", best));
  return Store(key, "default", of_default);
}

absl::Status StepTable::Store(const SeriesKey& key, const char* name, const std::vector<Point>& points) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) values.push_back(point.ms);
  const std::vector<statistics::LevelStep> steps = statistics::FindSteps(values);
  for (const statistics::LevelStep& step : steps) {
    const bool is_newest = &step == &steps.back();
    RETURN_IF_ERROR(insert_
                        .Bind(key.name, key.shapes, key.dtypes, key.hardware, key.sender, name, points[step.at].time_us,
                              points[step.at].attempt, points[step.at - 1].attempt, step.before, step.after, step.ratio,
                              step.low, step.high, is_newest)
                        .Run());
  }
  return absl::OkStatus();
}

}  // namespace telemetry::web::summary
