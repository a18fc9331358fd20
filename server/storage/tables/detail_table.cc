#include "server/storage/tables/detail_table.h"

#include <google/protobuf/util/message_differencer.h>

#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/detail_columns.h"
#include "server/storage/tables/text_field.h"

namespace telemetry::storage::tables {

DetailTable::DetailTable(sql::Database& database, AttemptTable& attempts)
    : attempts_(attempts),
      insert_(database, sql::BulkInsert{.table = "measurement_details",
                                        .columns = absl::StrCat("attempt, seq, ", sql::DetailColumnNames()).c_str(),
                                        .in_run = true,
                                        .on_conflict_do_nothing = true}),
      read_(database, {.text = absl::StrCat("SELECT ", sql::DetailColumnNames(), " FROM measurement_details").c_str(),
                       .key = sql::kInRun,
                       .where = "attempt = ?1 AND seq = ?2"}) {}

absl::Status DetailTable::Store(const v1::MeasurementDetail& detail, MaybeRefusal& refusal) {
  absl::StatusOr<AttemptTable::RowTarget> target = attempts_.FindTarget(detail.attempt_id(), refusal);
  if (!target.ok() || target->left_out()) return target.status();
  if (target->foreign) return CompareStored(detail, target->key, refusal);
  if (known_.is_on()) {
    const KnownRows::Is is = known_.Add(target->key.attempt, detail.seq(), detail.SerializeAsString());
    if (is == KnownRows::Is::kSame) return absl::OkStatus();
    if (is == KnownRows::Is::kOther) return CompareStored(detail, target->key, refusal);
  }
  const absl::StatusOr<int64_t> inserted = std::apply(
      [&](const auto&... column) {
        return insert_.Bind(sql::InRun{target->key.run}, target->key.attempt, detail.seq(), column.ToColumn(detail)...)
            .RunCounting();
      },
      sql::kDetailColumns);
  if (!inserted.ok() || *inserted == 1) return inserted.status();
  return CompareStored(detail, target->key, refusal);
}

absl::Status DetailTable::CompareStored(const v1::MeasurementDetail& detail, const sql::AttemptKey& key,
                                        MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(bool found, read_.Bind(sql::InRun{key.run}, key.attempt, detail.seq()).Step());
  if (!found) {
    refusal = NotYours(kForeignAttempt);
    return absl::OkStatus();
  }
  v1::MeasurementDetail stored;
  absl::Status status = sql::FillDetail(read_, 0, &stored);
  read_.Reset();
  if (!status.ok()) return status;
  stored.set_attempt_id(detail.attempt_id());
  stored.set_seq(detail.seq());
  // Fields of a newer producer that this version does not know are not stored, and are not compared.
  v1::MeasurementDetail sent = detail;
  sent.DiscardUnknownFields();
  if (sent.has_exact_perf_ms()) sent.set_exact_perf_ms(sql::AsRead(sent.exact_perf_ms()));
  if (!google::protobuf::util::MessageDifferencer::Equals(stored, sent)) {
    refusal = Conflict("another detail is stored for this attempt_id and seq");
  }
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
