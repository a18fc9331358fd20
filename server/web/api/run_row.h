#pragma once

#include "server/storage/sql/statement.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// The columns of a RunRow, and the tables that join the table or subquery of runs named r.
inline constexpr char kRunColumns[] =
    "r.run, r.run_id, sn.label, kn.label, kn.filter, sh.label, sh.filter, dt.label, dt.filter, hw.label, hw.filter, "
    "r.attempts, r.open_attempts, r.row_count, r.configs, r.failed, r.best_ms, r.default_ms, r.speedup, r.spread, "
    "r.noise, r.best_config_id, r.best_attempt_id, r.first_us, r.last_us, og.label, og.filter, al.label, al.filter, "
    "di.label, r.state";
inline constexpr int kRunColumnCount = 31;
inline constexpr char kRunJoins[] =
    " JOIN texts AS sn ON sn.text = r.sender JOIN texts AS kn ON kn.text = r.name JOIN texts AS sh ON sh.text = "
    "r.shapes"
    " JOIN texts AS dt ON dt.text = r.dtypes JOIN texts AS hw ON hw.text = r.hardware"
    " JOIN texts AS og ON og.text = r.origin JOIN texts AS al ON al.text = r.algorithm"
    " JOIN texts AS di ON di.text = r.dialect ";

// Writes the members of a RunRow.
void WriteRunRow(json::JsonWriter& out, const storage::sql::Statement& row);

// The same of an AttemptRow, from the table of attempts named a.
inline constexpr char kAttemptColumns[] =
    "a.attempt, a.run, a.attempt_id, asn.label, aog.label, aog.filter, aal.label, aal.filter, adi.label, a.state, "
    "a.provisional, a.seed, a.started_us, a.received_us, a.row_count, a.configs, a.failed, a.best_ms, "
    "a.best_config_id, "
    "a.best_stage, a.default_ms, a.noise, a.duration_s, a.improved_s, a.improved_config, a.compile_s, a.generation, "
    "a.changed_us";
inline constexpr int kAttemptColumnCount = 28;
inline constexpr char kAttemptJoins[] =
    " JOIN texts AS asn ON asn.text = a.sender JOIN texts AS aog ON aog.text = a.origin"
    " JOIN texts AS aal ON aal.text = a.algorithm JOIN texts AS adi ON adi.text = a.dialect ";
void WriteAttemptRow(json::JsonWriter& out, const storage::sql::Statement& row);

// Writes the running attempts, the last to change first, as `running`.
absl::Status WriteRunning(json::JsonWriter& out, storage::sql::Database& scratch);

}  // namespace telemetry::web::api
