#include "tests/faults/kept_attempts.h"

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"
#include "tests/faults/attempts_log.h"

namespace telemetry::faults {
namespace {

// The schema `audit` is not the dataset's, so that migrations do not find these.
constexpr char kNoteRemovals[] = R"sql(
CREATE SCHEMA audit;
CREATE TABLE audit.removals (
  place bigint GENERATED ALWAYS AS IDENTITY,
  run bigint NOT NULL,
  attempt bigint NOT NULL,
  attempt_id bytea NOT NULL,
  is_allowed boolean NOT NULL
);
CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit.removals (run, attempt, attempt_id, is_allowed)
  VALUES (OLD.run, OLD.attempt, OLD.attempt_id, OLD.state NOT IN ('open', 'unspecified')
          AND EXISTS (SELECT FROM public.attempts WHERE run = OLD.run AND attempt > OLD.attempt));
  RETURN OLD;
END
$$;
CREATE TRIGGER note_removal BEFORE DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION audit.note())sql";

void ExpectRowsOf(int number, uint64_t attempt, uint64_t at_least, const std::vector<KeptRow>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const v1::Measurement expected = RowOf(number, attempt, i + 1);
    ASSERT_EQ(rows[i].seq, expected.seq()) << "producer " << number << ", attempt " << attempt;
    ASSERT_EQ(rows[i].timestamp_s, expected.timestamp_s()) << "producer " << number << ", attempt " << attempt;
    ASSERT_EQ(rows[i].perf_ms, expected.perf_ms()) << "producer " << number << ", attempt " << attempt;
  }
  ASSERT_GE(rows.size(), at_least) << "rows of producer " << number << ", attempt " << attempt << " are missing";
  ASSERT_LE(rows.size(), kRowsPerAttempt) << "producer " << number << ", attempt " << attempt;
}

}  // namespace

absl::Status NoteRemovals(storage::sql::Database& dataset) { return dataset.Execute(kNoteRemovals); }

absl::StatusOr<Removals> ReadRemovals(storage::sql::Database& dataset) {
  Removals removals;
  storage::sql::Statement query(
      dataset,
      "SELECT attempt_id, is_allowed::integer::bigint, "
      "coalesce((attempt < max(attempt) OVER (PARTITION BY run ORDER BY place))::integer, 0)::bigint "
      "FROM audit.removals ORDER BY place");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return removals;
    ++removals.times[std::string(query.Bytes(0))];
    removals.forbidden += 1 - query.Int(1);
    removals.late += query.Int(2);
  }
}

absl::StatusOr<KeptAttempts> ReadAttempts(storage::sql::Database& dataset) {
  KeptAttempts attempts;
  storage::sql::Statement query(
      dataset,
      "SELECT a.attempt_id, m.seq, m.timestamp_s, m.perf_ms FROM attempts AS a LEFT JOIN "
      "measurements AS m ON m.run = a.run AND m.attempt = a.attempt ORDER BY a.attempt, m.seq");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return attempts;
    std::vector<KeptRow>& rows = attempts[std::string(query.Bytes(0))];
    if (query.IsNull(1)) continue;
    rows.push_back({static_cast<uint64_t>(query.Int(1)), query.Double(2), query.Double(3)});
  }
}

KeptAttempts ReadExportedAttempts(const std::string& csv) {
  KeptAttempts attempts;
  std::ifstream file(csv);
  std::string line;
  std::getline(file, line);
  EXPECT_TRUE(line.starts_with("run_id,attempt_id,seq,timestamp_s,generation,status,perf_ms,")) << line;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, absl::MaxSplits(',', 7));
    if (cells.size() != 8) {
      ADD_FAILURE() << csv << ": " << line;
      break;
    }
    attempts[absl::HexStringToBytes(cells[1])].push_back({std::strtoull(cells[2].c_str(), nullptr, 10),
                                                          std::strtod(cells[3].c_str(), nullptr),
                                                          std::strtod(cells[6].c_str(), nullptr)});
  }
  return attempts;
}

uint64_t ExpectKeptOrRemoved(int number, uint64_t acked, const KeptAttempts& attempts, const Removals& removals) {
  const uint64_t begun = AttemptsBegun(acked);
  uint64_t found = 0;
  for (uint64_t attempt = 0;; ++attempt) {
    const std::string id = AttemptIdOf(number, attempt);
    const auto kept = attempts.find(id);
    const auto removed = removals.times.find(id);
    const int times = removed == removals.times.end() ? 0 : removed->second;
    if (kept == attempts.end() && times == 0 && attempt >= begun) return found;
    EXPECT_LE(times, 1) << "producer " << number << ", attempt " << attempt;
    if (kept == attempts.end()) {
      // An export has no line for an attempt without rows.
      const bool has_rows = RowsAmong(attempt, acked) > 0;
      EXPECT_TRUE(times == 1 || !has_rows) << "attempt " << attempt << " of producer " << number << " is lost";
      continue;
    }
    ++found;
    ExpectRowsOf(number, attempt, RowsAmong(attempt, acked), kept->second);
  }
}

}  // namespace telemetry::faults
