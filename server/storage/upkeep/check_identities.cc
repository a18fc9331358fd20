#include "server/storage/upkeep/check_identities.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/identity.h"
#include "proto/record/ids.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::upkeep {
namespace {

using record::IdentityCheck;

constexpr int64_t kConfigsAtOnce = 1000;
constexpr int64_t kRunsAtOnce = 32;  // with sources of up to 1 MiB each

class IdentityScan {
 public:
  explicit IdentityScan(absl::FunctionRef<void(const WrongIdentity&)> on_wrong) : on_wrong_(on_wrong) {}

  void Add(const IdentityCheck& check, WrongIdentity claim) {
    switch (check.verdict) {
      case IdentityCheck::kTrue:
        ++counts_.right;
        return;
      case IdentityCheck::kUnknown:
        ++counts_.unknown;
        return;
      case IdentityCheck::kFalse:
        break;
    }
    ++counts_.wrong;
    claim.expected = check.expected;
    on_wrong_(claim);
  }

  const IdentityCounts& counts() const { return counts_; }

 private:
  absl::FunctionRef<void(const WrongIdentity&)> on_wrong_;
  IdentityCounts counts_;
};

void AddConfig(const sql::Statement& row, IdentityScan& scan) {
  const auto id = static_cast<uint64_t>(row.Int(1));
  scan.Add(row.IsNull(2) ? IdentityCheck() : record::CheckConfigId(id, row.Text(2)),
           {.what = "config_id", .id = record::FormatConfigId(id), .expected = {}, .sender = row.String(3)});
}

void AddRun(const sql::Statement& row, IdentityScan& scan) {
  v1::Run run;
  run.set_run_id(row.String(1));
  if (!row.IsNull(2)) run.set_kernel_id(row.String(2));
  if (!row.IsNull(3)) run.set_kernel_source(row.String(3));
  if (!row.IsNull(4)) run.set_input_shapes(row.String(4));
  if (!row.IsNull(5)) run.set_dtypes(row.String(5));
  if (!row.IsNull(6)) run.set_hardware(row.String(6));
  if (!row.IsNull(7)) run.set_settings_signature(row.String(7));
  if (!row.IsNull(8)) run.set_extra_json(row.String(8));
  if (!row.IsNull(9)) run.set_settings_json(row.String(9));
  scan.Add(record::CheckRunId(run), {.what = "run_id", .id = run.run_id(), .expected = {}, .sender = row.String(10)});
}

// Calls `use` for all rows of a query with two parameters: the key after which a page begins, and the page's number of
// rows. The query's first column is the key.
absl::Status ForEachRow(sql::Database& database, const char* sql, int64_t rows_at_once,
                        absl::FunctionRef<void(const sql::Statement&)> use) {
  sql::Statement query(database, sql);
  int64_t last = 0;
  int64_t rows = rows_at_once;
  while (rows == rows_at_once) {
    query.Bind(last, rows_at_once);
    for (rows = 0;; ++rows) {
      ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      last = query.Int(0);
      use(query);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<IdentityCounts> CheckIdentities(sql::Database& database,
                                               absl::FunctionRef<void(const WrongIdentity&)> on_wrong) {
  IdentityScan scan(on_wrong);
  absl::Status status =
      ForEachRow(database,
                 "SELECT c.config, c.config_id, t.text, coalesce(s.name, '') FROM configs AS c "
                 "JOIN config_texts AS t ON t.config = c.config LEFT JOIN senders AS s ON s.sender = c.sender "
                 "WHERE c.config > ?1 ORDER BY c.config LIMIT ?2",
                 kConfigsAtOnce, [&scan](const sql::Statement& row) { AddConfig(row, scan); });
  if (!status.ok()) return status;
  status = ForEachRow(database,
                      "SELECT r.run, r.run_id, k.kernel_id, k.source, r.input_shapes, r.dtypes, r.hardware, "
                      "r.settings_signature, r.extra_json, "
                      "(SELECT min(settings_json) FROM run_settings WHERE run = r.run), coalesce(s.name, '') "
                      "FROM runs AS r LEFT JOIN kernels AS k ON k.kernel = r.kernel "
                      "LEFT JOIN senders AS s ON s.sender = r.sender WHERE r.run > ?1 ORDER BY r.run LIMIT ?2",
                      kRunsAtOnce, [&scan](const sql::Statement& row) { AddRun(row, scan); });
  if (!status.ok()) return status;
  return scan.counts();
}

}  // namespace telemetry::storage::upkeep
