#include "server/web/api/run_filter.h"

#include <optional>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"

namespace telemetry::web::api {
namespace {

using record::Cat;

// The columns of runs that contain keys of texts.
struct TextColumn {
  std::string_view parameter;
  std::string_view column;
};
constexpr TextColumn kTextColumns[] = {{"kernel", "name"},       {"shapes", "shapes"}, {"dtypes", "dtypes"},
                                       {"hardware", "hardware"}, {"origin", "origin"}, {"algorithm", "algorithm"},
                                       {"dialect", "dialect"},   {"sender", "sender"}};

// An empty sender stands for one without a name.
std::string_view FilterText(std::string_view parameter, std::string_view value) {
  return parameter == "sender" && value.empty() ? std::string_view("null:") : value;
}

// A run has one value in most columns; its attempts may have several origins, algorithms and dialects.
absl::StatusOr<std::string> TextCondition(const Call& call, const TextColumn& column, std::string_view value) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(call.scratch, FilterText(column.parameter, value)));
  if (!text.has_value()) return "1 = 0";
  const bool is_of_attempts =
      column.parameter == "origin" || column.parameter == "algorithm" || column.parameter == "dialect";
  if (!is_of_attempts) return Cat("r.", column.column, " = ", *text);
  return Cat("(r.", column.column, " = ", *text, " OR (r.attempts > 1 AND EXISTS (SELECT 1 FROM attempts AS x ",
             "WHERE x.run = r.run AND x.", column.column, " = ", *text, ")))");
}

absl::StatusOr<std::string> SearchCondition(const std::string& q) {
  const std::string needle = Cat("lower(", Quoted(q), ")");
  std::string condition = "(";
  for (const char* column : {"name", "shapes", "hardware", "origin"}) {
    condition += Cat("r.", column, " IN (SELECT text FROM texts WHERE instr(lower(label), ", needle, ") > 0) OR ");
  }
  return Cat(condition, "substr(r.run_id, 1, ", q.size(), ") = ", needle, ")");
}

}  // namespace

absl::StatusOr<std::string> RunCondition(const Call& call, std::string_view except) {
  std::string condition = "1 = 1";
  const auto add = [&condition](const std::string& part) { condition += Cat(" AND ", part); };
  for (const TextColumn& column : kTextColumns) {
    ASSIGN_OR_RETURN(const std::optional<std::string> value, call.parameters.Text(column.parameter));
    if (!value.has_value() || column.parameter == except) continue;
    ASSIGN_OR_RETURN(const std::string part, TextCondition(call, column, *value));
    add(part);
  }
  if (except != "state" && call.parameters.Has("state")) {
    ASSIGN_OR_RETURN(const std::string state,
                     call.parameters.Choice("state", {"open", "complete", "abandoned", "unspecified"}));
    add(Cat("r.state = ", Quoted(state)));
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> since, call.parameters.Int("since"));
  if (since.has_value()) add(Cat("r.last_us / 1000 >= ", *since));
  ASSIGN_OR_RETURN(const std::optional<int64_t> until, call.parameters.Int("until"));
  if (until.has_value()) add(Cat("r.last_us / 1000 < ", *until));
  ASSIGN_OR_RETURN(const std::optional<std::string> q, call.parameters.Text("q"));
  if (q.has_value() && !q->empty()) {
    ASSIGN_OR_RETURN(const std::string part, SearchCondition(*q));
    add(part);
  }
  return condition;
}

}  // namespace telemetry::web::api
