#include "server/web/api/step_row.h"

#include "server/web/api/common.h"

namespace telemetry::web::api {

void WriteStepMembers(json::JsonWriter& out, const storage::sql::Statement& row) {
  WriteNamed(out, "kernel", row, 0);
  WriteNamed(out, "shapes", row, 2);
  WriteNamed(out, "dtypes", row, 4);
  WriteNamed(out, "hardware", row, 6);
  WriteText(out, "series", row, 8);
  WriteTime(out, "time_unix_ms", row, 9);
  WriteText(out, "attempt_id", row, 10);
  WriteText(out, "run_id", row, 11);
  WriteText(out, "sender", row, 12);
  WriteText(out, "before_attempt_id", row, 13);
  WriteDouble(out, "before_ms", row, 14);
  WriteDouble(out, "after_ms", row, 15);
  WriteDouble(out, "ratio", row, 16);
  WriteDouble(out, "low", row, 17);
  WriteDouble(out, "high", row, 18);
  WriteText(out, "version_before", row, 19);
  WriteText(out, "version_after", row, 20);
}

void WriteStep(json::JsonWriter& out, const storage::sql::Statement& row) {
  out.BeginObject();
  WriteStepMembers(out, row);
  out.EndObject();
}

}  // namespace telemetry::web::api
