#include "server/storage/readers/deletion.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/nearest.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/sql/attempt_state.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/attempt_remover.h"

namespace telemetry::storage::readers {
namespace {

// The number of attempts that one step examines. This is quick even if none of them matches.
constexpr int64_t kKeysAtOnce = 10'000;

// A statement that selects attempts and counts their measurements (WithRowCounts). ?1: the name; ?2, ?3: first and last
// key; ?4: limit. Measurements are counted only for the selected attempts.
#define TELEMETRY_FIND(condition)                                                                                 \
  "WITH found AS (SELECT * FROM attempts WHERE " condition                                                        \
  " AND attempt BETWEEN ?2 AND ?3 ORDER BY attempt LIMIT ?4) "                                                    \
  "SELECT a.attempt, a.attempt_id, r.run_id, coalesce(k.name, ''), a.origin, a.state, a.first_received_unix_us, " \
  "(SELECT count(*) FROM measurements AS m"

constexpr sql::StatementText WithRowCounts(const char* text) {
  return {.text = text,
          .key = "m.run = a.run",
          .where =
              "m.attempt = a.attempt) FROM found AS a JOIN runs AS r ON r.run = a.run "
              "LEFT JOIN kernels AS k ON k.kernel = r.kernel ORDER BY a.attempt"};
}

// Indexed by Deletion::Kind.
constexpr sql::StatementText kFind[] = {
    WithRowCounts(TELEMETRY_FIND("run IN (SELECT run FROM runs WHERE run_id = ?1)")),
    WithRowCounts(TELEMETRY_FIND("attempt_id = ?1")), WithRowCounts(TELEMETRY_FIND("origin = ?1"))};

// Runs a bound statement and returns the first column of its rows.
absl::StatusOr<std::vector<std::string>> Texts(sql::Statement& statement) {
  std::vector<std::string> texts;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return texts;
    texts.emplace_back(statement.Bytes(0));
  }
}

// Returns an error that suggests the nearest candidate.
absl::Status NotFound(const std::string& what, const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(word, candidates);
  return absl::NotFoundError(
      absl::StrCat(what, ": nothing is deleted", nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

// Returns the ids directly before and after the position of `id` in the order of ids. A typing error at the end of an
// id leaves it close to the correct one.
template <typename Id>
absl::StatusOr<std::vector<std::string>> Neighbours(sql::Database& database, const char* before, const char* behind,
                                                    const Id& id) {
  sql::Statement lower(database, before);
  ASSIGN_OR_RETURN(std::vector<std::string> ids, Texts(lower.Bind(id)));
  sql::Statement upper(database, behind);
  ASSIGN_OR_RETURN(std::vector<std::string> above, Texts(upper.Bind(id)));
  ids.insert(ids.end(), above.begin(), above.end());
  return ids;
}

absl::StatusOr<std::string> FindRun(sql::Database& database, const std::string& prefix) {
  if (!record::IsRunIdPrefix(prefix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", prefix, "' is not a run_id: give its 64 lower-case hex digits or at least the first 4"));
  }
  sql::Statement find(database,
                      "SELECT DISTINCT run_id FROM runs WHERE run_id >= ?1 AND run_id < ?2 ORDER BY run_id LIMIT 2");
  const std::string behind = absl::StrCat(prefix, "g");
  ASSIGN_OR_RETURN(std::vector<std::string> found, Texts(find.Bind(prefix, behind)));
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    return absl::FailedPreconditionError(absl::StrCat("several run_ids begin with ", prefix, ", for example ",
                                                      found.front(), " and ", found.back(), ": give more digits"));
  }
  ASSIGN_OR_RETURN(
      std::vector<std::string> near,
      Neighbours(database, "SELECT DISTINCT run_id FROM runs WHERE run_id < ?1 ORDER BY run_id DESC LIMIT 4",
                 "SELECT DISTINCT run_id FROM runs WHERE run_id > ?1 ORDER BY run_id LIMIT 4", prefix));
  for (std::string& run_id : near) run_id.resize(prefix.size());
  return NotFound(absl::StrCat("no run_id begins with ", prefix), prefix, near);
}

absl::Status FindAttempt(sql::Database& database, const std::string& attempt_id) {
  if (attempt_id.size() != record::kAttemptIdBytes) return absl::InvalidArgumentError("an attempt_id has 16 bytes");
  sql::Statement find(database, "SELECT attempt FROM attempts WHERE attempt_id = ?1");
  const absl::StatusOr<std::optional<int64_t>> found = find.Bind(sql::Blob{attempt_id}).QueryInt();
  if (!found.ok() || found->has_value()) return found.status();
  ASSIGN_OR_RETURN(
      std::vector<std::string> near,
      Neighbours(database, "SELECT attempt_id FROM attempts WHERE attempt_id < ?1 ORDER BY attempt_id DESC LIMIT 4",
                 "SELECT attempt_id FROM attempts WHERE attempt_id > ?1 ORDER BY attempt_id LIMIT 4",
                 sql::Blob{attempt_id}));
  for (std::string& id : near) id = record::HexEncode(id);
  const std::string digits = record::HexEncode(attempt_id);
  return NotFound(absl::StrCat("no attempt has the attempt_id ", digits), digits, near);
}

absl::Status FindOrigin(sql::Database& database, const std::string& origin) {
  if (origin.empty())
    return absl::InvalidArgumentError("an origin is empty: name attempts without an origin by their ids");
  sql::Statement find(database, "SELECT attempt FROM attempts WHERE origin = ?1 LIMIT 1");
  const absl::StatusOr<std::optional<int64_t>> found = find.Bind(origin).QueryInt();
  if (!found.ok() || found->has_value()) return found.status();
  sql::Statement origins(database,
                         "SELECT DISTINCT origin FROM attempts WHERE length(origin) BETWEEN 1 AND 256 "
                         "ORDER BY origin LIMIT 1000");
  ASSIGN_OR_RETURN(const std::vector<std::string> near, Texts(origins));
  return NotFound(absl::StrCat("no attempt has the origin '", origin, "'"), origin, near);
}

v1::DeletedAttempt Describe(const sql::Statement& row) {
  v1::DeletedAttempt attempt;
  attempt.set_attempt_id(std::string(row.Bytes(1)));
  attempt.set_run_id(row.String(2));
  attempt.set_kernel_name(row.String(3));
  attempt.set_origin(row.String(4));
  attempt.set_state(sql::ParseAttemptState(row.Text(5)));
  attempt.set_first_received_unix_us(row.Int(6));
  attempt.set_rows(static_cast<uint64_t>(row.Int(7)));
  return attempt;
}

}  // namespace

absl::StatusOr<Deletion> Deletion::Begin(sql::Database& database, const v1::DeleteRequest& request) {
  const int count = request.run_ids_size() + request.attempt_ids_size() + request.origins_size();
  if (count == 0) return absl::InvalidArgumentError("a deletion must name runs, attempts or origins");
  if (count > kMostNames) {
    return absl::InvalidArgumentError(absl::StrCat("a deletion has at most ", kMostNames, " names"));
  }
  Deletion deletion;
  for (const std::string& prefix : request.run_ids()) {
    ASSIGN_OR_RETURN(std::string run_id, FindRun(database, prefix));
    deletion.names_.push_back({Kind::kRun, std::move(run_id)});
  }
  for (const std::string& attempt_id : request.attempt_ids()) {
    RETURN_IF_ERROR(FindAttempt(database, attempt_id));
    deletion.names_.push_back({Kind::kAttempt, attempt_id});
  }
  for (const std::string& origin : request.origins()) {
    RETURN_IF_ERROR(FindOrigin(database, origin));
    deletion.names_.push_back({Kind::kOrigin, origin});
  }
  ASSIGN_OR_RETURN(const int64_t newest, database.QueryInt("SELECT coalesce(max(attempt), 0) FROM attempts"));
  deletion.through_ = request.through() > 0 ? std::min(request.through(), newest) : newest;
  return deletion;
}

absl::StatusOr<Removal> Deletion::Next(sql::Database& database) {
  Removal removal;
  if (done()) return removal;
  sql::Statement next(database, "SELECT attempt FROM attempts WHERE attempt > ?1 ORDER BY attempt LIMIT 1");
  ASSIGN_OR_RETURN(const std::optional<int64_t> first, next.Bind(looked_at_).QueryInt());
  if (first.has_value() && *first <= through_) {
    // Attempts of an origin are found by a scan of all attempts, so their search is limited per step.
    const bool at_once = names_[at_].kind != Kind::kOrigin || through_ - *first < kKeysAtOnce;
    const int64_t last = at_once ? through_ : *first + kKeysAtOnce - 1;
    RETURN_IF_ERROR(Find(database, *first, last, removal));
    if (looked_at_ < through_) return removal;
  }
  if (names_[at_].kind == Kind::kRun) removal.empty_runs_of = names_[at_].value;
  ++at_;
  looked_at_ = 0;
  return removal;
}

absl::Status Deletion::Find(sql::Database& database, int64_t first, int64_t last, Removal& removal) {
  const Name& name = names_[at_];
  sql::Statement find(database, kFind[static_cast<size_t>(name.kind)]);
  if (name.kind == Kind::kAttempt) {
    find.Bind(sql::Blob{name.value}, first, last, tables::AttemptRemover::kAttemptsAtOnce);
  } else {
    find.Bind(name.value, first, last, tables::AttemptRemover::kAttemptsAtOnce);
  }
  int64_t rows = 0;
  for (int64_t found = 0; found < tables::AttemptRemover::kAttemptsAtOnce && rows < tables::AttemptRemover::kRowsAtOnce;
       ++found) {
    ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) {
      looked_at_ = last;
      return absl::OkStatus();
    }
    looked_at_ = find.Int(0);
    v1::DeletedAttempt attempt = Describe(find);
    if (std::any_of(names_.begin(), names_.begin() + static_cast<ptrdiff_t>(at_),
                    [&](const Name& earlier) { return IsNamedBy(earlier, attempt); })) {
      continue;
    }
    rows += find.Int(7);
    removal.keys.push_back(find.Int(0));
    removal.attempts.push_back(std::move(attempt));
  }
  return absl::OkStatus();
}

bool Deletion::IsNamedBy(const Name& name, const v1::DeletedAttempt& attempt) {
  if (name.kind == Kind::kRun) return name.value == attempt.run_id();
  return name.value == (name.kind == Kind::kAttempt ? attempt.attempt_id() : attempt.origin());
}

}  // namespace telemetry::storage::readers
