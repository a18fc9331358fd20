#include "tests/bench/bench_ingest/raw_limit.h"

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/record/python_literal.h"
#include "server/storage/sqlite/migrator.h"

namespace telemetry::bench {
namespace {

constexpr uint64_t kRowsPerTransaction = 1000;
constexpr int kStarted = 1;
constexpr int kOk = 2;

class RawDatabase {
 public:
  explicit RawDatabase(const std::string& path) {
    Check(sqlite3_open(path.c_str(), &handle_));
    // The same pragmas as in server/storage.
    Execute(
        "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -32768; PRAGMA journal_mode = WAL;"
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4096");
    for (const storage::sql::Migration& migration : storage::sqlite::EmbeddedMigrations()) Execute(migration.sql);
  }
  ~RawDatabase() {
    for (sqlite3_stmt* statement : statements_) sqlite3_finalize(statement);
    sqlite3_close(handle_);
  }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  void Execute(const char* sql) { Check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)); }

  sqlite3_stmt* Prepare(const char* sql) {
    statements_.push_back(nullptr);
    Check(sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statements_.back(), nullptr));
    return statements_.back();
  }

  int64_t Insert(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) Check(sqlite3_errcode(handle_));
    Check(sqlite3_reset(statement));
    return sqlite3_last_insert_rowid(handle_);
  }

 private:
  void Check(int code) {
    if (code == SQLITE_OK) return;
    std::fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(handle_));
    std::abort();
  }

  sqlite3* handle_ = nullptr;
  std::vector<sqlite3_stmt*> statements_;
};

// The tables that the workload fills, written with as little code as possible.
class RawDataset {
 public:
  explicit RawDataset(const std::string& path) : database_(path) {
    database_.Execute("INSERT INTO statuses (status, name) VALUES (1, 'started'), (2, 'ok')");
  }

  void Begin() { database_.Execute("BEGIN IMMEDIATE"); }
  void Commit() { database_.Execute("COMMIT"); }

  int64_t AddRun(const v1::Run& run) {
    BindText(run_, 1, run.run_id());
    BindText(run_, 2, run.input_shapes());
    BindText(run_, 3, run.dtypes());
    BindText(run_, 4, run.hardware());
    return database_.Insert(run_);
  }

  int64_t AddAttempt(const v1::Attempt& attempt, int64_t run) {
    sqlite3_bind_blob(attempt_, 1, attempt.attempt_id().data(), static_cast<int>(attempt.attempt_id().size()),
                      SQLITE_STATIC);
    sqlite3_bind_int64(attempt_, 2, run);
    return database_.Insert(attempt_);
  }

  int64_t AddConfig(const v1::Config& config) {
    std::vector<int64_t> keys;
    for (const std::string_view argument : record::SplitConfigArguments(config.text())) {
      auto [it, is_new] = arguments_.try_emplace(std::string(argument), 0);
      if (is_new) {
        BindText(argument_, 1, it->first);
        it->second = database_.Insert(argument_);
      }
      keys.push_back(it->second);
    }
    const std::string list = "[" + absl::StrJoin(keys, ",") + "]";
    sqlite3_bind_int64(config_, 1, static_cast<int64_t>(config.config_id()));
    BindText(config_, 2, list);
    return database_.Insert(config_);
  }

  void AddRow(const v1::Measurement& row, int64_t attempt, int64_t config) {
    sqlite3_bind_int64(row_, 1, attempt);
    sqlite3_bind_int64(row_, 2, static_cast<int64_t>(row.seq()));
    sqlite3_bind_double(row_, 3, row.timestamp_s());
    sqlite3_bind_int64(row_, 4, row.generation());
    sqlite3_bind_int(row_, 5, row.has_perf_ms() ? kOk : kStarted);
    row.has_perf_ms() ? sqlite3_bind_double(row_, 6, row.perf_ms()) : sqlite3_bind_null(row_, 6);
    sqlite3_bind_double(row_, 7, row.compile_time_s());
    sqlite3_bind_int64(row_, 8, config);
    database_.Insert(row_);
  }

 private:
  static void BindText(sqlite3_stmt* statement, int index, const std::string& text) {
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  RawDatabase database_;
  sqlite3_stmt* const run_ =
      database_.Prepare("INSERT INTO runs (run_id, input_shapes, dtypes, hardware) VALUES (?1, ?2, ?3, ?4)");
  sqlite3_stmt* const attempt_ = database_.Prepare(
      "INSERT INTO attempts (attempt_id, run, origin, dialect, state, provisional, first_received_unix_us) "
      "VALUES (?1, ?2, 'bench', '', 'open', 0, 0)");
  sqlite3_stmt* const argument_ = database_.Prepare("INSERT INTO config_arguments (text) VALUES (?1)");
  sqlite3_stmt* const config_ = database_.Prepare("INSERT INTO configs (config_id, arguments) VALUES (?1, ?2)");
  sqlite3_stmt* const row_ = database_.Prepare(
      "INSERT INTO measurements (attempt, seq, timestamp_s, generation, status, perf_ms, compile_time_s, config) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  std::map<std::string, int64_t> arguments_;
};

// A series of transactions: commits after every 1,000 rows.
class Transactions {
 public:
  explicit Transactions(RawDataset* dataset) : dataset_(*dataset) { dataset_.Begin(); }
  ~Transactions() { dataset_.Commit(); }
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  void RowAdded() {
    if (++rows_ % kRowsPerTransaction != 0) return;
    dataset_.Commit();
    dataset_.Begin();
  }

 private:
  RawDataset& dataset_;
  uint64_t rows_ = 0;
};

void StoreRun(const Workload& workload, int number, uint64_t rows, RawDataset* dataset, Transactions* transactions) {
  std::vector<int64_t> config_keys(workload.configs(number).size(), 0);
  const int64_t run = dataset->AddRun(Workload::BuildRun(number));
  int64_t attempt = 0;
  v1::Measurement row;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t attempt_number = i / Workload::kRowsPerAttempt;
    const uint64_t index = i % Workload::kRowsPerAttempt;
    if (index == 0) attempt = dataset->AddAttempt(Workload::BuildAttempt(number, attempt_number), run);
    const size_t config = Workload::ConfigIndex(number, attempt_number, index);
    if (config_keys[config] == 0) config_keys[config] = dataset->AddConfig(workload.configs(number)[config]);
    workload.FillRow(number, attempt_number, index, &row);
    dataset->AddRow(row, attempt, config_keys[config]);
    transactions->RowAdded();
  }
}

}  // namespace

double MeasureRawLimit(const Workload& workload, uint64_t rows, const std::string& path) {
  RawDataset dataset(path);
  const absl::Time begin = absl::Now();
  {
    Transactions transactions(&dataset);
    for (int run = 0; run < Workload::kRuns; ++run) {
      StoreRun(workload, run, Workload::RowsOfRun(rows, run), &dataset, &transactions);
    }
  }
  return static_cast<double>(rows) / absl::ToDoubleSeconds(absl::Now() - begin);
}

}  // namespace telemetry::bench
