#include "server/web/api/run_scope.h"

#include <optional>
#include <string_view>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"

namespace telemetry::web::api {
namespace {

using record::Cat;
using storage::sql::Statement;

constexpr size_t kAttemptDigits = 32;
// The most senders of a run whose attempts are united.
constexpr int64_t kMostRuns = 50;

absl::StatusOr<std::string> SenderCondition(const Call& call) {
  ASSIGN_OR_RETURN(const std::optional<std::string> sender, call.parameters.Text("sender"));
  if (!sender.has_value()) return "1 = 1";
  if (sender->empty()) return "r.sender = 0";
  ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(call.scratch, *sender));
  return Cat("r.sender = ", text.value_or(-1));
}

absl::StatusOr<std::string> AttemptCondition(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, call.parameters.All("attempt", kMostAttempts));
  if (ids.empty()) return "1 = 1";
  std::string list;
  for (const std::string& id : ids) {
    if (!IsAttemptId(id)) return absl::InvalidArgumentError("parameter attempt: it is not an attempt_id");
    list += Cat(list.empty() ? "" : ", ", Quoted(id));
  }
  return Cat("a.attempt_id IN (", list, ")");
}

// Reads the newest attempts that the conditions select.
absl::Status ReadAttempts(const Call& call, const std::string& condition, RunScope* scope) {
  Statement read(
      call.scratch,
      Cat("SELECT a.run, a.attempt, a.attempt_id, o.label, count(*) OVER () FROM runs AS r "
          "JOIN attempts AS a ON a.run = r.run JOIN texts AS o ON o.text = a.origin WHERE r.run_id = ?1 AND ",
          condition, " ORDER BY a.time_us DESC, a.attempt DESC LIMIT ?2")
          .c_str());
  return ForEachRow(read.Bind(scope->run_id, kMostAttempts), [&] {
    scope->attempts.push_back({.run = read.Int(0), .attempt = read.Int(1)});
    scope->attempt_ids.push_back(read.String(2));
    scope->labels.push_back(read.Text(3).empty() ? scope->attempt_ids.back().substr(0, 8) : read.String(3));
    scope->attempts_left_out = read.Int(4) - static_cast<int64_t>(scope->attempts.size());
    return absl::OkStatus();
  });
}

// Reads the runs that the conditions select, of which the attempts above may be a part only.
absl::Status ReadRuns(const Call& call, const std::string& condition, RunScope* scope) {
  Statement read(call.scratch,
                 Cat("SELECT r.run FROM runs AS r JOIN attempts AS a ON a.run = r.run WHERE r.run_id = ?1 AND ",
                     condition, " GROUP BY r.run ORDER BY max(a.time_us) DESC, max(a.attempt) DESC LIMIT ?2")
                     .c_str());
  return ForEachRow(read.Bind(scope->run_id, kMostRuns), [&] {
    scope->runs.push_back(read.Int(0));
    return absl::OkStatus();
  });
}

}  // namespace

bool IsAttemptId(std::string_view text) {
  return text.size() == kAttemptDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

absl::StatusOr<RunScope> FindRun(const Call& call) {
  RunScope scope = {.run_id = call.path.front()};
  if (!record::IsHexId(scope.run_id)) return absl::NotFoundError("a run_id has 64 hex digits in lower case");
  ASSIGN_OR_RETURN(const std::string of_sender, SenderCondition(call));
  ASSIGN_OR_RETURN(const std::string of_attempts, AttemptCondition(call));
  const std::string condition = Cat(of_sender, " AND ", of_attempts);
  RETURN_IF_ERROR(ReadAttempts(call, condition, &scope));
  RETURN_IF_ERROR(ReadRuns(call, condition, &scope));
  if (scope.attempts.empty()) {
    return absl::NotFoundError("the dataset has no attempt of this run; while summaries are incomplete, try again");
  }
  return scope;
}

}  // namespace telemetry::web::api
