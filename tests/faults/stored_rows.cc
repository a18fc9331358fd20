#include "tests/faults/stored_rows.h"

#include <string>

#include "gtest/gtest.h"
#include "server/storage/sql/statement.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {

void ExpectRowsIn(storage::sql::Database& dataset, int number, uint64_t count) {
  storage::sql::Statement rows(dataset,
                               "SELECT m.seq, m.timestamp_s, m.perf_ms FROM measurements AS m JOIN attempts AS a "
                               "ON a.attempt = m.attempt WHERE a.attempt_id = ?1 ORDER BY m.seq");
  const std::string attempt_id = MakeRecord(number, 2).attempt().attempt_id();
  rows.Bind(storage::sql::Blob{attempt_id});
  uint64_t seq = 0;
  for (absl::StatusOr<bool> row = rows.Step(); row.value(); row = rows.Step()) {
    const v1::Measurement expected = MakeRecord(number, ++seq + kRecordsBeforeRows).measurement();
    ASSERT_EQ(rows.Int(0), static_cast<int64_t>(seq)) << "producer " << number;
    ASSERT_EQ(rows.Double(1), expected.timestamp_s()) << "producer " << number << ", row " << seq;
    ASSERT_EQ(rows.Double(2), expected.perf_ms()) << "producer " << number << ", row " << seq;
  }
  ASSERT_GE(seq, count) << "rows of producer " << number << " are missing";
}

}  // namespace telemetry::faults
