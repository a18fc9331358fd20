#include "server/storage/tables/reject_table.h"

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "proto/record/ids.h"

namespace telemetry::storage::tables {
namespace {

// Returns the name that queries use, for example 'unknown_reference' for REASON_UNKNOWN_REFERENCE.
std::string ReasonName(v1::Reject::Reason reason) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::Reject::Reason_Name(reason), "REASON_"));
}

}  // namespace

RejectTable::RejectTable(sql::Database& database)
    : insert_(database,
              "INSERT INTO rejects (content_sha256, reason, message, source, line, raw, origin, producer_id, "
              "received_unix_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING") {}

absl::Status RejectTable::Store(const v1::Reject& reject, const std::string& producer_id, int64_t now_unix_us) {
  const std::string digest = record::Sha256(reject.SerializeAsString());
  return insert_
      .Bind(sql::Blob{digest}, ReasonName(reject.reason()), reject.message(), reject.source(), reject.line(),
            sql::Blob{reject.raw()}, reject.origin(), sql::Blob{producer_id}, now_unix_us)
      .Run();
}

}  // namespace telemetry::storage::tables
