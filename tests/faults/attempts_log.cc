#include "tests/faults/attempts_log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "tests/faults/ledger.h"

namespace telemetry::faults {
namespace {

constexpr uint64_t kRecordsBeforeAttempts = 2;
constexpr uint64_t kRecordsPerAttempt = kRowsPerAttempt + 2;

}  // namespace

std::string RunIdOf(int number) { return MakeRecord(number, 1).run().run_id(); }

std::string AttemptIdOf(int number, uint64_t attempt) {
  return record::Sha256(absl::StrCat("attempt ", number, "/", attempt)).substr(0, 16);
}

v1::Measurement RowOf(int number, uint64_t attempt, uint64_t row) {
  v1::Measurement made = MakeRecord(number, kRecordsBeforeRows + attempt * kRowsPerAttempt + row).measurement();
  made.set_attempt_id(AttemptIdOf(number, attempt));
  made.set_seq(row);
  return made;
}

v1::Record MakeAttemptsRecord(int number, uint64_t seq) {
  constexpr uint64_t kRun = 1;
  constexpr uint64_t kConfig = 3;
  if (seq <= kRecordsBeforeAttempts) return MakeRecord(number, seq == 1 ? kRun : kConfig);
  const uint64_t attempt = (seq - kRecordsBeforeAttempts - 1) / kRecordsPerAttempt;
  const uint64_t place = (seq - kRecordsBeforeAttempts - 1) % kRecordsPerAttempt;
  v1::Record record;
  if (place > 0 && place <= kRowsPerAttempt) {
    *record.mutable_measurement() = RowOf(number, attempt, place);
    return record;
  }
  record.mutable_attempt()->set_attempt_id(AttemptIdOf(number, attempt));
  record.mutable_attempt()->set_run_id(RunIdOf(number));
  if (place > 0) record.mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
  return record;
}

uint64_t AttemptsBegun(uint64_t records) {
  return records <= kRecordsBeforeAttempts
             ? 0
             : (records - kRecordsBeforeAttempts + kRecordsPerAttempt - 1) / kRecordsPerAttempt;
}

uint64_t RowsAmong(uint64_t attempt, uint64_t records) {
  const uint64_t before_rows = kRecordsBeforeAttempts + attempt * kRecordsPerAttempt + 1;
  return records <= before_rows ? 0 : std::min(records - before_rows, kRowsPerAttempt);
}

}  // namespace telemetry::faults
