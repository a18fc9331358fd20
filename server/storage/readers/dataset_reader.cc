#include "server/storage/readers/dataset_reader.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/sql/attempt_state.h"

namespace telemetry::storage::readers {
namespace {

#define TELEMETRY_ATTEMPT_COLUMNS                                                                                      \
  "SELECT a.attempt, a.attempt_id, r.run_id, a.origin, a.dialect, a.state, a.provisional, a.started_unix_us, "         \
  "a.search_algorithm, a.seed, a.environment_json, a.counters_json, a.first_received_unix_us, a.run FROM attempts AS " \
  "a "                                                                                                                 \
  "JOIN runs AS r ON r.run = a.run "

// A condition: a record has described this run by more than its settings.
#define TELEMETRY_IS_DESCRIBED(run)                                                 \
  "coalesce(" run ".input_shapes, " run ".dtypes, " run ".hardware, CASE WHEN " run \
  ".kernel > 0 THEN '' END) IS NOT NULL "

// SELECTs the distinct values of a column, within the limits of v1::FilterValues.
#define TELEMETRY_VALUES_OF(column, table)                                                                \
  "SELECT DISTINCT " column " FROM " table " WHERE length(" column ") BETWEEN 1 AND 256 ORDER BY " column \
  " LIMIT "                                                                                               \
  "1000"

// SELECTs the rows of AddRunConfig() from run_configs AS r and configs AS c.
#define TELEMETRY_RUN_CONFIG_COLUMNS "r.sample_id, r.decorator, r.key_list, "
// The value of a column, or NULL in a row whose texts are long.
#define TELEMETRY_IF_SHORT(column) "CASE WHEN is_long THEN NULL ELSE " column " END, "

// The run configs of a run are read with their keys if there are at most kFewRunConfigs and the texts of each have at
// most kShortRunConfig characters, so that the result stays below 8 MiB.
constexpr int64_t kFewRunConfigs = 1000;
constexpr int64_t kShortRunConfig = 2000;

absl::Status ReadValues(sql::Statement& statement, google::protobuf::RepeatedPtrField<std::string>* values) {
  while (true) {
    absl::StatusOr<bool> found = statement.Step();
    if (!found.ok() || !*found) return found.status();
    values->Add(statement.String(0));
  }
}

}  // namespace

DatasetReader::DatasetReader(sql::Database& database)
    : configs_(database),
      measurements_(database, configs_),
      details_(database),
      events_(database),
      ir_graphs_(database),
      // d is the run that describes r: r itself if it has a description, or else the run without a sender's name. If r
      // is the run without a name, d is the first run that has a description. ?4 and ?5 enclose the prefix: 'g' sorts
      // after all hex digits. The condition on attempts is not an EXISTS: PostgreSQL would read all attempts for each page
      // of runs, into a hash table.
      runs_(database,
            "SELECT r.run, r.run_id, k.kernel_id, k.name, k.source, d.input_shapes, d.dtypes, d.hardware, "
            "d.settings_signature, d.extra_json, (SELECT min(settings_json) FROM run_settings WHERE run = d.run), "
            "d.run, r.sender, coalesce(s.name, '') "
            "FROM runs AS r JOIN runs AS d ON d.run = CASE WHEN " TELEMETRY_IS_DESCRIBED("r")
            "THEN r.run ELSE coalesce((SELECT o.run FROM runs AS o LEFT JOIN senders AS n ON n.sender = o.sender "
            "WHERE o.run_id = r.run_id AND (r.sender = 0 OR o.sender = 0) AND " TELEMETRY_IS_DESCRIBED("o")
            "ORDER BY coalesce(n.name, '') LIMIT 1), r.run) END "
            "LEFT JOIN kernels AS k ON k.kernel = d.kernel LEFT JOIN senders AS s ON s.sender = r.sender "
            "WHERE r.run_id >= ?1 AND (r.run_id > ?1 OR coalesce(s.name, '') > ?8) "
            "AND (?2 = '' OR k.name = ?2) AND (?3 = '' OR d.hardware = ?3) "
            "AND r.run_id >= ?4 AND r.run_id < ?5 "
            "AND (?6 = 0 OR EXISTS (SELECT 1 FROM attempts AS a WHERE a.run = r.run "
            "AND coalesce(a.started_unix_us, a.first_received_unix_us) >= ?6)) "
            "AND ((SELECT 1 FROM attempts AS a WHERE a.run = r.run LIMIT 1) IS NOT NULL OR (NOT EXISTS "
            "(SELECT 1 FROM runs AS o JOIN attempts AS a ON a.run = o.run WHERE o.run_id = r.run_id) "
            "AND (" TELEMETRY_IS_DESCRIBED("r") "OR NOT EXISTS "
            "(SELECT 1 FROM runs AS o WHERE o.run_id = r.run_id AND " TELEMETRY_IS_DESCRIBED("o") ")))) "
            "ORDER BY r.run_id, coalesce(s.name, '') LIMIT ?7"),
      attempts_(database, TELEMETRY_ATTEMPT_COLUMNS
                "WHERE a.run = ?1 AND (?2 = 0 OR coalesce(a.started_unix_us, a.first_received_unix_us) >= ?2) "
                "ORDER BY a.attempt_id"),
      attempts_of_(database, TELEMETRY_ATTEMPT_COLUMNS
                   "WHERE r.run_id = ?1 AND a.attempt_id > ?2 ORDER BY a.attempt_id LIMIT ?3"),
      attempt_(database, TELEMETRY_ATTEMPT_COLUMNS "WHERE a.attempt_id = ?1"),
      totals_(database, {.text = "SELECT (SELECT count(*) FROM attempts WHERE run = ?1), count(*) FROM measurements",
                         .key = sql::kInRun,
                         .where = "attempt IN (SELECT attempt FROM attempts WHERE run = ?1)"}),
      run_config_keys_(database,
                       "SELECT c.config_id, rc.config FROM run_configs AS rc "
                       "JOIN configs AS c ON c.config = rc.config WHERE rc.run = ?1"),
      // If the texts of a row are long, they are left out, and the last column says so.
      few_run_configs_(
          database,
          absl::StrCat(
              "SELECT sample_id, " TELEMETRY_IF_SHORT("decorator") "key_list, config, config_id, sender, "
              TELEMETRY_IF_SHORT("arguments") TELEMETRY_IF_SHORT("unsplit_text") "is_long FROM (SELECT "
              TELEMETRY_RUN_CONFIG_COLUMNS, ConfigReader::kColumns,
              ", coalesce(length(r.decorator), 0) + coalesce(length(c.arguments), 0) "
              "+ coalesce(length(c.unsplit_text), 0) > ?2 AS is_long "
              "FROM run_configs AS r JOIN configs AS c ON c.config = r.config WHERE r.run = ?1 LIMIT ?3) AS few")
              .c_str()),
      run_configs_(database, absl::StrCat(TELEMETRY_RUN_CONFIG_COLUMNS, ConfigReader::kColumns).c_str(),
                   "run_configs AS r JOIN configs AS c ON c.config = r.config",
                   "r.run = ?1 AND r.config = k.column1", 1),
      key_list_(database, "SELECT keys_json FROM key_lists WHERE key_list = ?1"),
      kernel_names_(database, TELEMETRY_VALUES_OF("name", "kernels")),
      hardware_(database, TELEMETRY_VALUES_OF("hardware", "runs")),
      statuses_(database, TELEMETRY_VALUES_OF("name", "statuses")) {}

absl::StatusOr<std::vector<StoredRun>> DatasetReader::Runs(const v1::Filter& filter, const RunPlace& after,
                                                           int64_t limit) {
  const std::string prefix_end = filter.run_id() + "g";
  runs_.Bind(after.run_id, filter.kernel_name(), filter.hardware(), filter.run_id(), prefix_end,
             int64_t{filter.since_unix_us()}, limit, after.sender_name);
  std::vector<StoredRun> runs;
  while (true) {
    ASSIGN_OR_RETURN(bool found, runs_.Step());
    if (!found) return runs;
    runs.push_back(FillRun());
  }
}

StoredRun DatasetReader::FillRun() {
  StoredRun stored{.key = runs_.Int(0),
                   .described_by = runs_.Int(11),
                   .sender = runs_.Int(12),
                   .sender_name = runs_.String(13),
                   .run = {}};
  v1::Run& run = stored.run;
  run.set_run_id(runs_.String(1));
  if (!runs_.IsNull(2)) run.set_kernel_id(runs_.String(2));
  if (!runs_.IsNull(3)) run.set_kernel_name(runs_.String(3));
  if (!runs_.IsNull(4)) run.set_kernel_source(runs_.String(4));
  if (!runs_.IsNull(5)) run.set_input_shapes(runs_.String(5));
  if (!runs_.IsNull(6)) run.set_dtypes(runs_.String(6));
  if (!runs_.IsNull(7)) run.set_hardware(runs_.String(7));
  if (!runs_.IsNull(8)) run.set_settings_signature(runs_.String(8));
  if (!runs_.IsNull(9)) run.set_extra_json(runs_.String(9));
  if (!runs_.IsNull(10)) run.set_settings_json(runs_.String(10));
  return stored;
}

absl::StatusOr<std::vector<StoredRun>> DatasetReader::RunsWithId(const std::string& run_id) {
  v1::Filter filter;
  filter.set_run_id(run_id);
  absl::StatusOr<std::vector<StoredRun>> runs = std::vector<StoredRun>();
  // A shorter id would be treated as a prefix.
  if (record::IsHexId(run_id)) runs = Runs(filter, {}, std::numeric_limits<int64_t>::max());
  if (runs.ok() && runs->empty()) return absl::NotFoundError(absl::StrCat("no run has the id \"", run_id, "\""));
  return runs;
}

absl::StatusOr<std::vector<StoredAttempt>> DatasetReader::Attempts(const StoredRun& run, int64_t since_unix_us) {
  return ReadAttempts(attempts_.Bind(run.key, since_unix_us));
}

absl::StatusOr<std::vector<StoredAttempt>> DatasetReader::AttemptsWithRunId(const std::string& run_id,
                                                                            const std::string& after_attempt_id,
                                                                            int64_t limit) {
  return ReadAttempts(attempts_of_.Bind(run_id, sql::Blob{after_attempt_id}, limit));
}

absl::StatusOr<std::vector<StoredAttempt>> DatasetReader::ReadAttempts(sql::Statement& bound) {
  std::vector<StoredAttempt> attempts;
  while (true) {
    ASSIGN_OR_RETURN(bool found, bound.Step());
    if (!found) return attempts;
    attempts.push_back(FillAttempt(bound));
    // A run may have very many attempts, and clearing a field does not free its memory, so only two fields are kept.
    v1::Attempt& attempt = *attempts.back().summary.mutable_attempt();
    v1::Attempt brief;
    brief.set_attempt_id(attempt.attempt_id());
    if (attempt.has_started_unix_us()) brief.set_started_unix_us(attempt.started_unix_us());
    attempt = std::move(brief);
  }
}

absl::StatusOr<StoredAttempt> DatasetReader::Attempt(const std::string& attempt_id) {
  ASSIGN_OR_RETURN(bool found, attempt_.Bind(sql::Blob{attempt_id}).Step());
  if (!found) return absl::NotFoundError(absl::StrCat("no attempt has the id ", record::HexEncode(attempt_id)));
  StoredAttempt attempt = FillAttempt(attempt_);
  attempt_.Reset();
  return attempt;
}

StoredAttempt DatasetReader::FillAttempt(const sql::Statement& row) {
  StoredAttempt stored{.key = {.run = row.Int(13), .attempt = row.Int(0)}, .summary = {}};
  v1::Attempt& attempt = *stored.summary.mutable_attempt();
  attempt.set_attempt_id(std::string(row.Bytes(1)));
  attempt.set_run_id(row.String(2));
  attempt.set_origin(row.String(3));
  attempt.set_dialect(row.String(4));
  attempt.set_state(sql::ParseAttemptState(row.Text(5)));
  attempt.set_provisional(row.Int(6) != 0);
  if (!row.IsNull(7)) attempt.set_started_unix_us(row.Int(7));
  if (!row.IsNull(8)) attempt.set_search_algorithm(row.String(8));
  if (!row.IsNull(9)) attempt.set_seed(row.Int(9));
  if (!row.IsNull(10)) attempt.set_environment_json(row.String(10));
  if (!row.IsNull(11)) attempt.set_counters_json(row.String(11));
  stored.summary.set_first_received_unix_us(row.Int(12));
  return stored;
}

absl::Status DatasetReader::AddTotals(const StoredRun& run, v1::ExportTotals* totals) {
  RETURN_IF_ERROR(totals_.Bind(sql::InRun{run.key}, run.key).Step().status());
  totals->set_attempts(totals->attempts() + static_cast<uint64_t>(totals_.Int(0)));
  totals->set_measurements(totals->measurements() + static_cast<uint64_t>(totals_.Int(1)));
  totals_.Reset();
  return absl::OkStatus();
}

absl::StatusOr<v1::RunSummary> DatasetReader::Summarise(const StoredRun& run) {
  ASSIGN_OR_RETURN(std::vector<StoredAttempt> attempts, Attempts(run, 0));
  return Summarise(run, &attempts);
}

absl::StatusOr<v1::RunSummary> DatasetReader::Summarise(const StoredRun& run, std::vector<StoredAttempt>* attempts) {
  v1::RunSummary summary;
  *summary.mutable_run() = run.run;
  RowStats stats = measurements_.NewStats();
  for (StoredAttempt& attempt : *attempts) {
    RETURN_IF_ERROR(Count(&attempt, &stats));
  }
  summary.set_attempts(attempts->size());
  summary.set_measurements(stats.measurements);
  summary.set_configs(stats.configs);
  if (stats.best.has_value()) {
    // Does not announce the config: an export's rows do so.
    ASSIGN_OR_RETURN(v1::Config config, configs_.Read(stats.best_config));
    summary.set_best_perf_ms(stats.best->perf_ms);
    summary.set_best_is_final(stats.best->rank == RowRank::kFinal);
    summary.set_best_config_id(config.config_id());
    if (!config.text().empty()) summary.set_best_config(std::move(*config.mutable_text()));
  }
  ASSIGN_OR_RETURN(std::vector<std::string> kinds, ir_graphs_.Kinds(run.described_by));
  for (std::string& kind : kinds) summary.add_ir_kinds(std::move(kind));
  return summary;
}

absl::Status DatasetReader::Summarise(StoredAttempt* attempt) {
  RowStats stats = measurements_.NewStats();
  return Count(attempt, &stats);
}

absl::Status DatasetReader::Count(StoredAttempt* attempt, RowStats* stats) {
  const uint64_t before = stats->measurements;
  attempt->best.reset();
  RETURN_IF_ERROR(measurements_.Add(attempt->key, stats, &attempt->best));
  attempt->summary.set_measurements(stats->measurements - before);
  if (attempt->best.has_value()) attempt->summary.set_best_perf_ms(attempt->best->perf_ms);
  return absl::OkStatus();
}

absl::StatusOr<RunConfigList> DatasetReader::ListRunConfigs(int64_t run) {
  RunConfigList list;
  configs_.BeginPrefetch();
  few_run_configs_.Bind(run, kShortRunConfig, kFewRunConfigs + 1);
  bool has_long = false;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, few_run_configs_.Step());
    if (!found) break;
    list.keys.emplace_back(static_cast<uint64_t>(few_run_configs_.Int(4)), few_run_configs_.Int(3));
    AddRunConfig(few_run_configs_, &list.rows);
    has_long = has_long || few_run_configs_.Int(8) != 0;
  }
  const bool has_more = std::ssize(list.keys) > kFewRunConfigs;
  if (has_long || has_more) {
    list.rows.clear();
    configs_.BeginPrefetch();
  }
  if (has_more) {
    ASSIGN_OR_RETURN(list.keys, ReadRunConfigKeys(run));
  }
  std::sort(list.keys.begin(), list.keys.end());
  return list;
}

absl::StatusOr<std::vector<std::pair<uint64_t, int64_t>>> DatasetReader::ReadRunConfigKeys(int64_t run) {
  std::vector<std::pair<uint64_t, int64_t>> keys;
  run_config_keys_.Bind(run);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, run_config_keys_.Step());
    if (!found) return keys;
    keys.emplace_back(static_cast<uint64_t>(run_config_keys_.Int(0)), run_config_keys_.Int(1));
  }
}

absl::StatusOr<absl::flat_hash_map<int64_t, StoredRunConfig>> DatasetReader::ReadRunConfigs(
    int64_t run, absl::Span<const int64_t> configs) {
  absl::flat_hash_map<int64_t, StoredRunConfig> found;
  configs_.BeginPrefetch();
  RETURN_IF_ERROR(run_configs_.Read({run}, configs, [this, &found](const sql::Statement& row) {
    AddRunConfig(row, &found);
    return absl::OkStatus();
  }));
  return found;
}

void DatasetReader::AddRunConfig(const sql::Statement& row, absl::flat_hash_map<int64_t, StoredRunConfig>* rows) {
  StoredRunConfig& stored = (*rows)[row.Int(3)];
  if (!row.IsNull(0)) stored.sample_id = std::string(row.Bytes(0));
  if (!row.IsNull(1)) stored.decorator = row.String(1);
  if (!row.IsNull(2)) stored.key_list = row.Int(2);
  configs_.AddPrefetched(row, 3);
}

absl::Status DatasetReader::Fill(const StoredRunConfig& stored, v1::RunConfig* out) {
  if (stored.sample_id.has_value()) out->set_sample_id(*stored.sample_id);
  if (stored.decorator.has_value()) out->set_decorator(*stored.decorator);
  if (stored.key_list == 0) return absl::OkStatus();
  if (stored.key_list != last_key_list_) {
    const absl::StatusOr<bool> found = key_list_.Bind(stored.key_list).Step();
    if (!found.ok() || !*found) return found.status();
    last_keys_json_ = key_list_.String(0);
    last_key_list_ = stored.key_list;
    key_list_.Reset();
  }
  out->set_record_keys_json(last_keys_json_);
  return absl::OkStatus();
}

absl::StatusOr<v1::FilterValues> DatasetReader::ReadFilterValues() {
  v1::FilterValues values;
  absl::Status status = ReadValues(kernel_names_, values.mutable_kernel_names());
  if (status.ok()) status = ReadValues(hardware_, values.mutable_hardware());
  if (status.ok()) status = ReadValues(statuses_, values.mutable_statuses());
  if (!status.ok()) return status;
  return values;
}

}  // namespace telemetry::storage::readers
