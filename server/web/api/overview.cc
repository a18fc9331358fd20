#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/run_row.h"
#include "server/web/api/step_row.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Database;
using storage::sql::Statement;

constexpr int kNewest = 10;
constexpr int64_t kDays = 30;
constexpr int64_t kDayUs = int64_t{86400} * 1000000;

absl::Status WriteNewest(JsonWriter& out, Database& scratch) {
  const std::string sql =
      Cat("SELECT ", kRunColumns,
          " FROM (SELECT * FROM runs WHERE best_ms IS NOT NULL ORDER BY last_us DESC, run DESC LIMIT ?1)"
          " AS r",
          kRunJoins, "ORDER BY r.last_us DESC, r.run DESC");
  Statement newest(scratch, sql.c_str());
  newest.Bind(kNewest);
  out.BeginArray("newest");
  RETURN_IF_ERROR(ForEachRow(newest, [&] {
    out.BeginObject();
    WriteRunRow(out, newest);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  return absl::OkStatus();
}

absl::Status WriteRegressions(JsonWriter& out, Database& scratch) {
  const std::string sql =
      Cat("SELECT ", kStepColumns,
          " FROM (SELECT * FROM steps WHERE ratio > 1 ORDER BY time_us DESC, attempt DESC LIMIT ?1) AS s", kStepJoins,
          "ORDER BY s.time_us DESC, s.attempt DESC");
  Statement steps(scratch, sql.c_str());
  steps.Bind(kNewest);
  out.BeginArray("regressions");
  RETURN_IF_ERROR(ForEachRow(steps, [&] {
    WriteStep(out, steps);
    return absl::OkStatus();
  }));
  out.EndArray();
  return absl::OkStatus();
}

std::string DayText(int64_t day) {
  return absl::FormatTime("%Y-%m-%d", absl::FromUnixMicros(day * kDayUs), absl::UTCTimeZone());
}

absl::Status WriteActivity(JsonWriter& out, Database& scratch) {
  const int64_t today = NowUnixMs() * 1000 / kDayUs;
  // A statement for each day sums up a range of the index; one with GROUP BY would sort the attempts of all days.
  Statement of_day(scratch,
                   "SELECT count(*), coalesce(sum(row_count), 0), coalesce(sum(failed), 0) FROM attempts "
                   "WHERE received_us >= ?1 AND received_us < ?2");
  out.BeginArray("activity");
  for (int64_t day = today - kDays + 1; day <= today; ++day) {
    RETURN_IF_ERROR(of_day.Bind(day * kDayUs, (day + 1) * kDayUs).Step().status());
    out.BeginObject();
    out.Field("day", DayText(day));
    WriteInt(out, "attempts", of_day, 0);
    WriteInt(out, "rows", of_day, 1);
    WriteInt(out, "failed", of_day, 2);
    out.EndObject();
  }
  out.EndArray();
  return absl::OkStatus();
}

absl::Status WriteSizes(JsonWriter& out, const Call& call) {
  Statement totals(call.scratch,
                   "SELECT (SELECT count(*) FROM runs), count(*), coalesce(sum(row_count), 0), "
                   "(SELECT count(*) FROM (SELECT DISTINCT name FROM runs)), max(received_us), "
                   "(SELECT min(time_us) FROM attempts WHERE state = 'open') FROM attempts");
  RETURN_IF_ERROR(totals.Step().status());
  const DatasetSizes sizes = call.state.sizes();
  out.BeginObject("sizes");
  WriteInt(out, "runs", totals, 0);
  WriteInt(out, "attempts", totals, 1);
  WriteInt(out, "rows", totals, 2);
  WriteInt(out, "kernels", totals, 3);
  out.Field("configs", sizes.configs);
  out.Field("graphs", sizes.graphs);
  out.Field("rejects", sizes.rejects);
  out.Field("producers", sizes.producers);
  out.Field("cache_entries", sizes.cache_entries);
  out.Field("bytes", sizes.bytes);
  out.BeginArray("tables");
  for (const auto& [name, bytes] : sizes.tables) {
    out.BeginObject();
    out.Field("name", name);
    out.Field("bytes", bytes);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  out.BeginObject("health");
  out.Field("database", call.state.is_postgresql() ? "postgresql" : "sqlite");
  WriteTime(out, "newest_received_unix_ms", totals, 4);
  WriteTime(out, "oldest_running_unix_ms", totals, 5);
  out.Field("rejects_last_day", sizes.rejects_last_day);
  out.BeginArray("collectors");
  for (const CollectorHealth& collector : call.state.collectors()) {
    out.BeginObject();
    out.Field("address", collector.address);
    out.Field("state", collector.state);
    out.Field("detail", collector.detail);
    out.Field("checked_unix_ms", collector.checked_unix_ms);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace

absl::Status GetOverview(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({}));
  out.BeginObject();
  out.Field("version", call.state.progress().version);
  out.Field("now_unix_ms", NowUnixMs());
  WriteSummaries(out, call.state.progress());
  RETURN_IF_ERROR(WriteRunning(out, call.scratch));
  RETURN_IF_ERROR(WriteNewest(out, call.scratch));
  RETURN_IF_ERROR(WriteRegressions(out, call.scratch));
  RETURN_IF_ERROR(WriteActivity(out, call.scratch));
  RETURN_IF_ERROR(WriteSizes(out, call));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
