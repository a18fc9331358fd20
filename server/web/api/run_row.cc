#include "server/web/api/run_row.h"

#include "proto/record/strings.h"
#include "server/web/api/common.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using storage::sql::Statement;

// An open attempt that has not changed for this long does not count as running: its producer may be gone.
constexpr int64_t kRunningUs = int64_t{15} * 60 * 1000000;
constexpr int kMostRunning = 50;

void WriteRunning(JsonWriter& out, const Statement& row) {
  constexpr int kRun = kAttemptColumnCount;
  out.BeginObject();
  WriteText(out, "attempt_id", row, 2);
  WriteText(out, "run_id", row, kRun + 1);
  WriteText(out, "sender", row, 3);
  WriteNamed(out, "kernel", row, kRun + 3);
  WriteNamed(out, "shapes", row, kRun + 5);
  WriteNamed(out, "dtypes", row, kRun + 7);
  WriteNamed(out, "hardware", row, kRun + 9);
  WriteNamed(out, "origin", row, 4);
  WriteNamed(out, "algorithm", row, 6);
  WriteTime(out, "started_unix_ms", row, 12);
  WriteTime(out, "last_received_unix_ms", row, 27);
  WriteInt(out, "rows", row, 14);
  WriteInt(out, "configs", row, 15);
  WriteInt(out, "failed", row, 16);
  WriteDouble(out, "best_ms", row, 17);
  WriteDouble(out, "default_ms", row, 20);
  WriteInt(out, "generation", row, 26);
  WriteDouble(out, "elapsed_s", row, 22);
  out.EndObject();
}

}  // namespace

void WriteRunRow(JsonWriter& out, const Statement& row) {
  WriteText(out, "run_id", row, 1);
  WriteText(out, "sender", row, 2);
  WriteNamed(out, "kernel", row, 3);
  WriteNamed(out, "shapes", row, 5);
  WriteNamed(out, "dtypes", row, 7);
  WriteNamed(out, "hardware", row, 9);
  WriteInt(out, "attempts", row, 11);
  WriteInt(out, "open_attempts", row, 12);
  WriteInt(out, "rows", row, 13);
  WriteInt(out, "configs", row, 14);
  WriteInt(out, "failed", row, 15);
  WriteDouble(out, "best_ms", row, 16);
  WriteDouble(out, "default_ms", row, 17);
  WriteDouble(out, "speedup", row, 18);
  WriteDouble(out, "spread", row, 19);
  WriteDouble(out, "noise", row, 20);
  WriteText(out, "best_config_id", row, 21);
  WriteText(out, "best_attempt_id", row, 22);
  WriteTime(out, "first_received_unix_ms", row, 23);
  WriteTime(out, "last_received_unix_ms", row, 24);
  WriteNamed(out, "origin", row, 25);
  WriteNamed(out, "algorithm", row, 27);
  WriteText(out, "dialect", row, 29);
  WriteText(out, "state", row, 30);
}

void WriteAttemptRow(JsonWriter& out, const Statement& row) {
  WriteText(out, "attempt_id", row, 2);
  WriteText(out, "sender", row, 3);
  WriteNamed(out, "origin", row, 4);
  WriteNamed(out, "algorithm", row, 6);
  WriteText(out, "dialect", row, 8);
  WriteText(out, "state", row, 9);
  out.Field("provisional", row.Int(10) != 0);
  WriteInt(out, "seed", row, 11);
  WriteTime(out, "started_unix_ms", row, 12);
  WriteTime(out, "received_unix_ms", row, 13);
  WriteInt(out, "rows", row, 14);
  WriteInt(out, "configs", row, 15);
  WriteInt(out, "failed", row, 16);
  WriteDouble(out, "best_ms", row, 17);
  WriteText(out, "best_config_id", row, 18);
  WriteText(out, "best_stage", row, 19);
  WriteDouble(out, "default_ms", row, 20);
  const bool has_speedup = !row.IsNull(17) && !row.IsNull(20) && row.Double(17) > 0;
  has_speedup ? out.Field("speedup", row.Double(20) / row.Double(17)) : out.Field("speedup", nullptr);
  WriteDouble(out, "noise", row, 21);
  WriteDouble(out, "duration_s", row, 22);
  WriteDouble(out, "last_improvement_s", row, 23);
  WriteInt(out, "last_improvement_config", row, 24);
  WriteDouble(out, "compile_s", row, 25);
}

absl::Status WriteRunning(JsonWriter& out, storage::sql::Database& scratch) {
  const std::string sql = record::Cat("SELECT ", kAttemptColumns, ", ", kRunColumns,
                                      " FROM attempts AS a JOIN runs AS r ON r.run = a.run", kAttemptJoins, kRunJoins,
                                      "WHERE a.state = 'open' AND a.changed_us >= ?1 "
                                      "ORDER BY a.changed_us DESC, a.attempt DESC LIMIT ?2");
  Statement running(scratch, sql.c_str());
  running.Bind(NowUnixMs() * 1000 - kRunningUs, kMostRunning);
  out.BeginArray("running");
  absl::Status status = ForEachRow(running, [&] {
    WriteRunning(out, running);
    return absl::OkStatus();
  });
  out.EndArray();
  return status;
}

}  // namespace telemetry::web::api
