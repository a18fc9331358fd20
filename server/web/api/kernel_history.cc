#include <algorithm>
#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/kernel_name.h"
#include "server/web/api/step_row.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

// Returns the condition on the columns name, shapes, dtypes and hardware of a table.
absl::StatusOr<std::string> SeriesCondition(const Call& call, const std::string& table) {
  std::string condition;
  for (const auto& [parameter, column] : std::initializer_list<std::pair<const char*, const char*>>{
           {"kernel", "name"}, {"shapes", "shapes"}, {"dtypes", "dtypes"}, {"hardware", "hardware"}}) {
    ASSIGN_OR_RETURN(const std::string filter, call.parameters.Required(parameter));
    ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(call.scratch, filter));
    condition += Cat(condition.empty() ? "" : " AND ", table, ".", column, " = ", text.value_or(-1));
  }
  return condition;
}

absl::Status WritePoints(const Call& call, const std::string& condition, int64_t most, JsonWriter& out) {
  Statement points(call.scratch,
                   Cat("SELECT * FROM (SELECT a.attempt_id, r.run_id, sn.label, k.version, a.time_us, a.best_ms, "
                       "a.default_ms, og.label, og.filter, count(*) OVER (), a.attempt FROM runs AS r "
                       "JOIN attempts AS a ON a.run = r.run JOIN texts AS sn ON sn.text = r.sender "
                       "JOIN texts AS og ON og.text = a.origin LEFT JOIN kernels AS k ON k.kernel = r.kernel WHERE ",
                       condition, " ORDER BY a.time_us DESC, a.attempt DESC LIMIT ?1) ORDER BY 5, 11")
                       .c_str());
  points.Bind(most);
  int64_t count = 0;
  int64_t total = 0;
  out.BeginArray("points");
  RETURN_IF_ERROR(ForEachRow(points, [&] {
    ++count;
    total = points.Int(9);
    out.BeginObject();
    WriteText(out, "attempt_id", points, 0);
    WriteText(out, "run_id", points, 1);
    WriteText(out, "sender", points, 2);
    WriteText(out, "version", points, 3);
    WriteTime(out, "time_unix_ms", points, 4);
    WriteDouble(out, "best_ms", points, 5);
    WriteDouble(out, "default_ms", points, 6);
    WriteNamed(out, "origin", points, 7);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  out.Field("points_left_out", total - count);
  return absl::OkStatus();
}

}  // namespace

absl::Status GetKernelHistory(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"kernel", "shapes", "dtypes", "hardware", "points", "format"}));
  ASSIGN_OR_RETURN(const int64_t most, call.parameters.Bounded("points", 1000, 10, 4000));
  ASSIGN_OR_RETURN(const std::string of_runs, SeriesCondition(call, "r"));
  ASSIGN_OR_RETURN(const std::string of_steps, SeriesCondition(call, "s"));
  out.BeginObject();
  RETURN_IF_ERROR(WritePoints(call, of_runs, most, out));
  Statement steps(call.scratch, Cat("SELECT ", kStepColumns, " FROM steps AS s", kStepJoins, "WHERE ", of_steps,
                                    " ORDER BY s.time_us, s.attempt, s.series LIMIT 1000")
                                    .c_str());
  out.BeginArray("steps");
  RETURN_IF_ERROR(ForEachRow(steps, [&] {
    WriteStep(out, steps);
    return absl::OkStatus();
  }));
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetKernelSource(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"kernel", "version"}));
  ASSIGN_OR_RETURN(const std::string version, call.parameters.Required("version"));
  out.BeginObject();
  ASSIGN_OR_RETURN(const int64_t name, WriteKernelName(call, out));
  Statement find(call.scratch, "SELECT kernel FROM kernels WHERE name = ?1 AND version = ?2 ORDER BY kernel LIMIT 1");
  ASSIGN_OR_RETURN(const std::optional<int64_t> kernel, find.Bind(name, version).QueryInt());
  if (!kernel.has_value()) return absl::NotFoundError("the kernel has no such version");
  Statement source(call.dataset, "SELECT source, kernel_id FROM kernels WHERE kernel = ?1");
  ASSIGN_OR_RETURN(const bool found, source.Bind(*kernel).Step());
  if (!found) return absl::NotFoundError("the kernel was removed");
  out.Field("version", version);
  WriteText(out, "kernel_id", source, 1);
  source.IsNull(0) ? out.Field("source", nullptr) : out.Field("source", json::Whole{source.Text(0)});
  out.Field("truncated", source.Text(0).size() > json::kWholeTextBytes);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
