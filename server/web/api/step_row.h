#pragma once

#include "server/storage/sql/statement.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// The columns of a Step, and the tables that join the table or subquery of steps named s.
inline constexpr char kStepColumns[] =
    "kn.label, kn.filter, sh.label, sh.filter, dt.label, dt.filter, hw.label, hw.filter, s.series, s.time_us, "
    "a.attempt_id, r.run_id, sn.label, b.attempt_id, s.before_ms, s.after_ms, s.ratio, s.low, s.high, bk.version, "
    "ak.version, s.attempt";
inline constexpr int kStepColumnCount = 22;
inline constexpr char kStepJoins[] =
    " JOIN texts AS kn ON kn.text = s.name JOIN texts AS sh ON sh.text = s.shapes JOIN texts AS dt ON dt.text = "
    "s.dtypes"
    " JOIN texts AS hw ON hw.text = s.hardware JOIN texts AS sn ON sn.text = s.sender"
    " JOIN attempts AS a ON a.attempt = s.attempt JOIN runs AS r ON r.run = a.run"
    " JOIN attempts AS b ON b.attempt = s.before_attempt JOIN runs AS br ON br.run = b.run"
    " LEFT JOIN kernels AS ak ON ak.kernel = r.kernel LEFT JOIN kernels AS bk ON bk.kernel = br.kernel ";

// Write a Step, or its members only.
void WriteStepMembers(json::JsonWriter& out, const storage::sql::Statement& row);
void WriteStep(json::JsonWriter& out, const storage::sql::Statement& row);

}  // namespace telemetry::web::api
