#include "server/web/summary/attempt_store.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::summary {
namespace {

using rows::OptionalInt;
using rows::OptionalText;

using storage::sql::AttemptKey;

constexpr char kInsert[] =
    "INSERT OR REPLACE INTO attempts (attempt, attempt_id, run, sender, origin, algorithm, dialect, state, "
    "provisional, "
    "seed, started_us, received_us, time_us, changed_us, row_count, detail_count, max_seq, configs, failed, best_ms, "
    "best_rank, best_seq, best_stage, best_config_id, default_ms, generation, duration_s, improved_s, improved_config, "
    "compile_s, noise) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
    "?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)";

}  // namespace

AttemptStore::AttemptStore(storage::sql::Database& dataset, storage::sql::Database& scratch, TextTable& texts)
    : texts_(texts),
      summariser_(dataset),
      list_after_(dataset, "SELECT attempt, run, state FROM attempts WHERE attempt > ?1 ORDER BY attempt LIMIT ?2"),
      list_before_(dataset,
                   "SELECT attempt, run, state FROM attempts WHERE attempt < ?1 ORDER BY attempt DESC LIMIT ?2"),
      find_(dataset, "SELECT attempt, run, state FROM attempts WHERE attempt = ?1"),
      stored_(scratch,
              "SELECT attempt, run, state, row_count, detail_count, max_seq FROM attempts "
              "WHERE attempt > ?1 AND attempt <= ?2 ORDER BY attempt"),
      growing_(scratch,
               "SELECT attempt, run, state, row_count, detail_count, max_seq FROM attempts "
               "WHERE changed_us >= ?1 "
               "ORDER BY changed_us DESC, attempt DESC LIMIT ?2"),
      read_(dataset,
            "SELECT a.attempt_id, a.run, s.name, a.origin, a.search_algorithm, a.dialect, a.state, a.provisional, "
            "a.seed, a.started_unix_us, a.first_received_unix_us FROM attempts AS a "
            "LEFT JOIN senders AS s ON s.sender = a.sender WHERE a.attempt = ?1"),
      config_id_(dataset, "SELECT config_id FROM configs WHERE config = ?1"),
      insert_(scratch, kInsert),
      remove_(scratch, "DELETE FROM attempts WHERE attempt = ?1") {}

absl::StatusOr<std::vector<AttemptState>> AttemptStore::Read(storage::sql::Statement& bound, bool with_size) {
  std::vector<AttemptState> states;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, bound.Step());
    if (!found) return states;
    AttemptState& state = states.emplace_back(
        AttemptState{.key = {.run = bound.Int(1), .attempt = bound.Int(0)}, .state = bound.String(2), .size = {}});
    if (with_size) state.size = {.row_count = bound.Int(3), .detail_count = bound.Int(4), .max_seq = bound.Int(5)};
  }
}

absl::StatusOr<std::vector<AttemptState>> AttemptStore::ListAfter(int64_t after, int64_t limit) {
  return Read(list_after_.Bind(after, limit), /*with_size=*/false);
}

absl::StatusOr<std::vector<AttemptState>> AttemptStore::ListBefore(int64_t before, int64_t limit) {
  return Read(list_before_.Bind(before, limit), /*with_size=*/false);
}

absl::StatusOr<std::vector<AttemptState>> AttemptStore::Stored(int64_t after, int64_t last) {
  return Read(stored_.Bind(after, last), /*with_size=*/true);
}

absl::StatusOr<std::vector<AttemptState>> AttemptStore::Growing(int64_t changed_since_us, int64_t limit) {
  return Read(growing_.Bind(changed_since_us, limit), /*with_size=*/true);
}

absl::StatusOr<std::optional<AttemptState>> AttemptStore::Find(int64_t attempt) {
  ASSIGN_OR_RETURN(std::vector<AttemptState> found, Read(find_.Bind(attempt), /*with_size=*/false));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

absl::Status AttemptStore::Store(const AttemptKey& key, std::optional<int64_t> changed_us) {
  ASSIGN_OR_RETURN(const bool found, read_.Bind(key.attempt).Step());
  if (!found) return Remove(key.attempt);
  ASSIGN_OR_RETURN(const AttemptSummary summary, summariser_.Summarise(key));
  const std::string attempt_id = record::HexEncode(read_.Bytes(0));
  ASSIGN_OR_RETURN(const int64_t sender, texts_.Key(OptionalText(read_, 2)));
  ASSIGN_OR_RETURN(const int64_t origin, texts_.Key(read_.Text(3)));
  ASSIGN_OR_RETURN(const int64_t algorithm, texts_.Key(OptionalText(read_, 4)));
  ASSIGN_OR_RETURN(const int64_t dialect, texts_.Key(read_.Text(5)));
  const std::string state = read_.String(6);
  const int64_t provisional = read_.Int(7);
  const auto seed = OptionalInt(read_, 8);
  const auto started = OptionalInt(read_, 9);
  const int64_t received = read_.Int(10);
  read_.Reset();
  ASSIGN_OR_RETURN(const std::optional<std::string> config_id, ConfigId(summary.best_config));
  const int64_t last_row_us =
      received + static_cast<int64_t>(std::clamp(summary.duration_s.value_or(0), 0.0, 1e8) * 1e6);
  const bool has_best = summary.best_ms.has_value();
  const std::string stage(rows::StageName(summary.best_stage));
  return insert_
      .Bind(key.attempt, attempt_id, key.run, sender, origin, algorithm, dialect, state, provisional, seed, started,
            received, started.value_or(received), changed_us.value_or(last_row_us), summary.row_count,
            summary.detail_count, summary.max_seq, summary.configs, summary.failed, summary.best_ms,
            has_best ? std::optional<int64_t>(static_cast<int64_t>(summary.best_rank)) : std::nullopt,
            has_best ? std::optional<int64_t>(summary.best_seq) : std::nullopt,
            stage.empty() ? std::nullopt : std::optional<std::string_view>(stage), config_id, summary.default_ms,
            summary.generation, summary.duration_s, summary.improved_s, summary.improved_config, summary.compile_s,
            summary.noise)
      .Run();
}

absl::Status AttemptStore::Remove(int64_t attempt) { return remove_.Bind(attempt).Run(); }

absl::StatusOr<std::optional<std::string>> AttemptStore::ConfigId(int64_t config) {
  if (config == 0) return std::nullopt;
  ASSIGN_OR_RETURN(const std::optional<int64_t> id, config_id_.Bind(config).QueryInt());
  if (!id.has_value()) return std::nullopt;
  return record::FormatConfigId(static_cast<uint64_t>(*id));
}

}  // namespace telemetry::web::summary
