#include <optional>
#include <string>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "server/web/api/common.h"
#include "server/web/api/config_text.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/repro_command.h"
#include "server/web/api/run_row.h"
#include "server/web/api/run_scope.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using json::Whole;
using record::Cat;
using storage::sql::Statement;

constexpr int kListedAttempts = 200;

// The row of several senders' runs: the sums of their attempts, with the description and the best of the first.
constexpr char kUnited[] =
    "(SELECT x.run, x.run_id, x.sender, x.name, x.shapes, x.dtypes, x.hardware, t.attempts, t.open_attempts, "
    "t.row_count, "
    "t.configs, t.failed, b.best_ms, b.default_ms, CASE WHEN b.best_ms > 0 THEN b.default_ms / b.best_ms END AS "
    "speedup, "
    "CASE WHEN t.measured > 1 AND t.least > 0 THEN (t.most - t.least) / t.least END AS spread, b.noise, "
    "b.best_config_id, b.attempt_id AS best_attempt_id, t.first_us, t.last_us, x.origin, x.algorithm, x.dialect, "
    "x.state, "
    "x.kernel FROM (SELECT count(*) AS attempts, sum(state = 'open') AS open_attempts, sum(row_count) AS row_count, "
    "sum(configs) AS configs, sum(failed) AS failed, min(received_us) AS first_us, max(received_us) AS last_us, "
    "count(best_ms) AS measured, min(best_ms) AS least, max(best_ms) AS most FROM attempts WHERE run IN (@)) AS t "
    "JOIN runs AS x ON x.run = ?1 LEFT JOIN (SELECT best_ms, default_ms, noise, best_config_id, attempt_id FROM "
    "attempts "
    "WHERE run IN (@) AND best_ms IS NOT NULL ORDER BY best_rank, best_ms, attempt_id LIMIT 1) AS b ON true) AS r";

std::string Replaced(std::string_view text, const std::string& list) {
  std::string out;
  for (const char c : text) c == '@' ? out.append(list) : out.append(1, c);
  return out;
}

absl::Status WriteDescription(const Call& call, const RunScope& scope, JsonWriter& out, std::string* best_attempt) {
  const std::string list = absl::StrJoin(scope.runs, ", ");
  Statement run(call.scratch, Cat("SELECT ", kRunColumns, ", k.kernel_id, k.version FROM ", Replaced(kUnited, list),
                                  kRunJoins, "LEFT JOIN kernels AS k ON k.kernel = r.kernel")
                                  .c_str());
  ASSIGN_OR_RETURN(const bool found, run.Bind(scope.runs.front()).Step());
  if (!found) return absl::NotFoundError("the run was removed");
  WriteRunRow(out, run);
  WriteText(out, "kernel_id", run, kRunColumnCount);
  WriteText(out, "version", run, kRunColumnCount + 1);
  *best_attempt = run.String(22);
  return absl::OkStatus();
}

absl::Status WriteSettings(const Call& call, const RunScope& scope, JsonWriter& out) {
  Statement read(
      call.dataset,
      "SELECT r.settings_signature, (SELECT min(s.settings_json) FROM run_settings AS s WHERE s.run = r.run) "
      "FROM runs AS r WHERE r.run = ?1");
  ASSIGN_OR_RETURN(const bool found, read.Bind(scope.runs.front()).Step());
  found && !read.IsNull(1) ? out.Field("settings", Whole{read.Text(1)}) : out.Field("settings", nullptr);
  found && !read.IsNull(0) ? out.Field("settings_signature", Whole{read.Text(0)})
                           : out.Field("settings_signature", nullptr);
  return absl::OkStatus();
}

absl::Status WriteAttempts(const Call& call, const RunScope& scope, JsonWriter& out) {
  const std::string list = absl::StrJoin(scope.runs, ", ");
  Statement senders(call.scratch, Cat("SELECT DISTINCT t.label FROM runs AS r JOIN texts AS t ON t.text = r.sender "
                                      "WHERE r.run IN (",
                                      list, ") ORDER BY t.label")
                                      .c_str());
  out.BeginArray("senders");
  RETURN_IF_ERROR(ForEachRow(senders, [&] {
    senders.IsNull(0) ? out.Value(nullptr) : out.Value(senders.Text(0));
    return absl::OkStatus();
  }));
  out.EndArray();
  Statement attempts(call.scratch,
                     Cat("SELECT ", kAttemptColumns, ", count(*) OVER () FROM attempts AS a", kAttemptJoins,
                         "WHERE a.run IN (", list, ") ORDER BY a.time_us DESC, a.attempt DESC LIMIT ?1")
                         .c_str());
  attempts.Bind(kListedAttempts);
  int64_t left_out = 0;
  int64_t count = 0;
  out.BeginArray("attempt_list");
  RETURN_IF_ERROR(ForEachRow(attempts, [&] {
    out.BeginObject();
    WriteAttemptRow(out, attempts);
    out.EndObject();
    left_out = attempts.Int(kAttemptColumnCount) - ++count;
    return absl::OkStatus();
  }));
  out.EndArray();
  out.Field("attempts_left_out", left_out);
  return absl::OkStatus();
}

absl::Status WriteGraphKinds(const Call& call, const RunScope& scope, JsonWriter& out) {
  Statement kinds(call.dataset, Cat("SELECT DISTINCT kind FROM ir_graphs WHERE run IN (",
                                    absl::StrJoin(scope.runs, ", "), ") ORDER BY kind LIMIT 20")
                                    .c_str());
  out.BeginArray("graphs");
  RETURN_IF_ERROR(ForEachRow(kinds, [&] {
    out.Value(kinds.Text(0));
    return absl::OkStatus();
  }));
  out.EndArray();
  return absl::OkStatus();
}

absl::Status WriteBest(const Call& call, const RunScope& scope, const std::string& best_attempt, JsonWriter& out) {
  Statement best(
      call.scratch,
      "SELECT a.attempt, a.run, a.best_seq, d.label FROM attempts AS a JOIN texts AS d ON d.text = a.dialect "
      "WHERE a.attempt_id = ?1");
  ASSIGN_OR_RETURN(const bool found, best.Bind(best_attempt).Step());
  if (!found || best.IsNull(2)) {
    out.Field("best", nullptr);
    out.Field("repro", nullptr);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> config,
                   ConfigOfRow(call.dataset, {.run = best.Int(1), .attempt = best.Int(0)}, best.Int(2)));
  if (!config.has_value()) return absl::UnavailableError("the summaries are not up to date");
  const std::string dialect = best.String(3);
  RETURN_IF_ERROR(WriteConfigText(call, best.Int(1), *config, dialect, "best", out));
  ASSIGN_OR_RETURN(const ConfigTexts::Config text, ConfigTexts(call.dataset).Read(*config));
  out.Field("repro", ReproCommand(call, scope.run_id, text.id, dialect));
  return absl::OkStatus();
}

}  // namespace

absl::Status GetRun(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  std::string best_attempt;
  out.BeginObject();
  RETURN_IF_ERROR(WriteDescription(call, scope, out, &best_attempt));
  RETURN_IF_ERROR(WriteSettings(call, scope, out));
  RETURN_IF_ERROR(WriteAttempts(call, scope, out));
  RETURN_IF_ERROR(WriteGraphKinds(call, scope, out));
  RETURN_IF_ERROR(WriteBest(call, scope, best_attempt, out));
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetAttempt(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({}));
  Statement attempt(call.scratch, Cat("SELECT ", kAttemptColumns, ", r.run_id FROM attempts AS a", kAttemptJoins,
                                      "JOIN runs AS r ON r.run = a.run WHERE a.attempt_id = ?1")
                                      .c_str());
  ASSIGN_OR_RETURN(const bool found, attempt.Bind(call.path.front()).Step());
  if (!found) return absl::NotFoundError("the dataset has no attempt with this id");
  Statement record(call.dataset, "SELECT environment_json, counters_json FROM attempts WHERE attempt = ?1");
  ASSIGN_OR_RETURN(const bool is_there, record.Bind(attempt.Int(0)).Step());
  if (!is_there) return absl::NotFoundError("the attempt was removed");
  Statement events(
      call.dataset,
      {.text = "SELECT count(*) FROM attempt_events", .key = storage::sql::kInRun, .where = "attempt = ?1"});
  ASSIGN_OR_RETURN(const std::optional<int64_t> event_count,
                   events.Bind(storage::sql::InRun{attempt.Int(1)}, attempt.Int(0)).QueryInt());
  out.BeginObject();
  WriteAttemptRow(out, attempt);
  WriteText(out, "run_id", attempt, kAttemptColumnCount);
  WriteJsonColumn(out, "environment", record, 0);
  WriteJsonColumn(out, "counters", record, 1);
  out.Field("events", event_count.value_or(0));
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
