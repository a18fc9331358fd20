#include <algorithm>
#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/page_writer.h"
#include "server/web/api/run_filter.h"
#include "server/web/api/run_row.h"
#include "server/web/api/sort_order.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using record::Cat;
using storage::sql::Statement;

struct SortColumn {
  std::string_view name;
  std::string_view expression;
  std::string_view join;  // the text that the expression is
};
constexpr SortColumn kSortColumns[] = {
    {"last_received", "r.last_us", ""}, {"attempts", "r.attempts", ""},      {"rows", "r.row_count", ""},
    {"best", "r.best_ms", ""},          {"speedup", "r.speedup", ""},        {"spread", "r.spread", ""},
    {"noise", "r.noise", ""},           {"failed", "r.failed", ""},          {"kernel", "st.label", "name"},
    {"shapes", "st.label", "shapes"},   {"hardware", "st.label", "hardware"}};

absl::StatusOr<SortColumn> FindColumn(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kSortColumns), std::end(kSortColumns),
                                         [&](const SortColumn& column) { return column.name == name; });
  if (found == std::end(kSortColumns)) return absl::InvalidArgumentError("parameter sort: there is no such value");
  return *found;
}

// The part of the statement that selects the page's runs, with the value by which they are ordered.
absl::StatusOr<std::string> PageOfRuns(const Call& call, const SortColumn& column, const SortOrder& order,
                                       const std::string& condition, int64_t size) {
  ASSIGN_OR_RETURN(const std::optional<Cursor> cursor, ParseCursor(call));
  ASSIGN_OR_RETURN(const std::string after, order.After(cursor));
  const std::string join = column.join.empty() ? "" : Cat(" JOIN texts AS st ON st.text = r.", column.join);
  return Cat("(SELECT r.*, ", column.expression, " AS sorted FROM runs AS r", join, " WHERE ", condition, " AND ",
             after, order.Clause(), " LIMIT ", size + 1, ") AS r");
}

}  // namespace

absl::Status ListRuns(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(
      call.parameters.Allow({"kernel", "shapes", "dtypes", "hardware", "origin", "algorithm", "dialect", "sender",
                             "state", "since", "until", "q", "sort", "limit", "cursor", "format"}));
  ASSIGN_OR_RETURN(const int64_t size, PageSize(call));
  ASSIGN_OR_RETURN(const std::optional<std::string> sort, call.parameters.Text("sort"));
  const std::string_view name = sort.has_value() ? std::string_view(*sort) : "-last_received";
  const bool is_descending = name.starts_with('-');
  ASSIGN_OR_RETURN(const SortColumn column, FindColumn(is_descending ? name.substr(1) : name));
  const SortOrder order = {.expression = std::string(column.expression),
                           .key = "r.run",
                           .is_descending = is_descending,
                           .is_text = !column.join.empty()};
  ASSIGN_OR_RETURN(const std::string condition, RunCondition(call));
  ASSIGN_OR_RETURN(const std::string page, PageOfRuns(call, column, order, condition, size));
  SortOrder outer = order;
  outer.expression = "r.sorted";
  Statement list(call.scratch,
                 Cat("SELECT ", kRunColumns, ", r.sorted FROM ", page, kRunJoins, outer.Clause()).c_str());
  out.BeginObject();
  RETURN_IF_ERROR(WritePage(
      out, list, size, [&] { WriteRunRow(out, list); }, [&] { return order.Place(list, kRunColumnCount, 0); }));
  Statement total(call.scratch, Cat("SELECT count(*) FROM runs AS r WHERE ", condition).c_str());
  ASSIGN_OR_RETURN(const std::optional<int64_t> runs, total.QueryInt());
  out.Field("total", runs.value_or(0));
  WriteSummaries(out, call.state.progress());
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetFacets(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow(kFilterNames));
  constexpr int kMostValues = 200;
  out.BeginObject();
  for (const auto& [parameter, field] :
       std::initializer_list<std::pair<const char*, const char*>>{{"kernel", "name"},
                                                                  {"shapes", "shapes"},
                                                                  {"dtypes", "dtypes"},
                                                                  {"hardware", "hardware"},
                                                                  {"origin", "origin"},
                                                                  {"algorithm", "algorithm"},
                                                                  {"dialect", "dialect"},
                                                                  {"sender", "sender"}}) {
    ASSIGN_OR_RETURN(const std::string condition, RunCondition(call, parameter));
    Statement values(call.scratch,
                     Cat("SELECT t.label, t.filter, f.runs FROM (SELECT r.", field,
                         " AS text, count(*) AS runs FROM runs AS r WHERE ", condition, " GROUP BY r.", field,
                         " ORDER BY runs DESC, text LIMIT ?1) AS f JOIN texts AS t ON t.text = f.text "
                         "ORDER BY f.runs DESC, t.label")
                         .c_str());
    values.Bind(kMostValues);
    out.BeginArray(parameter);
    RETURN_IF_ERROR(ForEachRow(values, [&] {
      out.BeginObject();
      WriteText(out, "label", values, 0);
      out.Field("filter", values.Text(1));
      WriteInt(out, "runs", values, 2);
      out.EndObject();
      return absl::OkStatus();
    }));
    out.EndArray();
  }
  ASSIGN_OR_RETURN(const std::string condition, RunCondition(call, "state"));
  Statement states(call.scratch, Cat("SELECT r.state, count(*) FROM runs AS r WHERE ", condition,
                                     " GROUP BY r.state ORDER BY count(*) DESC, r.state")
                                     .c_str());
  out.BeginArray("state");
  RETURN_IF_ERROR(ForEachRow(states, [&] {
    out.BeginObject();
    out.Field("label", states.Text(0));
    out.Field("filter", states.Text(0));
    WriteInt(out, "runs", states, 1);
    out.EndObject();
    return absl::OkStatus();
  }));
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
