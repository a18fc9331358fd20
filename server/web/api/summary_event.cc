#include "server/web/api/summary_event.h"

#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "server/web/api/common.h"
#include "server/web/api/run_row.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {
namespace {

absl::Status WriteFollowedRun(json::JsonWriter& out, storage::sql::Database& scratch, const std::string& run_id) {
  storage::sql::Statement run(
      scratch, "SELECT sum(attempts), sum(row_count), min(best_ms) FROM runs WHERE run_id = ?1 HAVING count(*) > 0");
  ASSIGN_OR_RETURN(const bool found, run.Bind(run_id).Step());
  if (!found) {
    out.Field("run", nullptr);
    return absl::OkStatus();
  }
  out.BeginObject("run");
  out.Field("run_id", run_id);
  WriteInt(out, "attempts", run, 0);
  WriteInt(out, "rows", run, 1);
  WriteDouble(out, "best_ms", run, 2);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> MakeSummaryEvent(storage::sql::Database& scratch, const ServerState& state,
                                             const std::string& run_id) {
  const summary::Progress progress = state.progress();
  std::string text;
  json::JsonWriter out(&text);
  out.BeginObject();
  out.Field("version", progress.version);
  out.Field("now_unix_ms", NowUnixMs());
  WriteSummaries(out, progress);
  RETURN_IF_ERROR(WriteRunning(out, scratch));
  RETURN_IF_ERROR(WriteFollowedRun(out, scratch, run_id));
  out.EndObject();
  return text;
}

}  // namespace telemetry::web::api
