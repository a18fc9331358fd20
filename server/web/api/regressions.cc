#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"
#include "server/web/api/sort_order.h"
#include "server/web/api/step_row.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

absl::StatusOr<std::string> StepCondition(const Call& call) {
  std::string condition = "1 = 1";
  for (const auto& [parameter, column] :
       std::initializer_list<std::pair<const char*, const char*>>{{"kernel", "name"}, {"hardware", "hardware"}}) {
    ASSIGN_OR_RETURN(const std::optional<std::string> filter, call.parameters.Text(parameter));
    if (!filter.has_value()) continue;
    ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(call.scratch, *filter));
    condition += Cat(" AND s.", column, " = ", text.value_or(-1));
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> since, call.parameters.Int("since"));
  if (since.has_value()) condition += Cat(" AND s.time_us / 1000 >= ", *since);
  ASSIGN_OR_RETURN(const std::optional<int64_t> until, call.parameters.Int("until"));
  if (until.has_value()) condition += Cat(" AND s.time_us / 1000 < ", *until);
  ASSIGN_OR_RETURN(const std::string direction, call.parameters.Choice("direction", {"slower", "faster", "both"}));
  if (direction != "both") condition += direction == "slower" ? " AND s.ratio > 1" : " AND s.ratio < 1";
  ASSIGN_OR_RETURN(const std::string series, call.parameters.Choice("series", {"both", "best", "default"}));
  if (series != "both") condition += Cat(" AND s.series = ", Quoted(series));
  return condition;
}

}  // namespace

absl::Status ListRegressions(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow(
      {"kernel", "hardware", "since", "until", "direction", "series", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::string condition, StepCondition(call));
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  const SortOrder order = {.expression = "s.time_us", .key = "s.rowid", .is_descending = true};
  ASSIGN_OR_RETURN(const std::string after, order.After(cursor));
  Statement list(call.scratch, Cat("SELECT ", kStepColumns, ", s.rowid FROM steps AS s", kStepJoins, "WHERE ",
                                   condition, " AND ", after, order.Clause(), " LIMIT ?1")
                                   .c_str());
  list.Bind(size + 1);
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size, [&] { WriteStepMembers(out, list); }, [&] { return order.Place(list, 9, kStepColumnCount); }));
  Statement total(call.scratch, Cat("SELECT count(*) FROM steps AS s WHERE ", condition).c_str());
  ASSIGN_OR_RETURN(const std::optional<int64_t> steps, total.QueryInt());
  out.Field("total", steps.value_or(0));
  WriteSummaries(out, call.state.progress());
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
