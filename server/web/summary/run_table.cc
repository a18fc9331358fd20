#include "server/web/summary/run_table.h"

#include <algorithm>
#include <optional>
#include <string>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::summary {
namespace {

using rows::OptionalString;
using rows::OptionalText;

constexpr size_t kVersionDigits = 16;

// A run that its sender has not described is shown with the description that came without a sender's name; one without
// a sender's name with any (server/storage/README.md, Identity).
constexpr char kReadRun[] =
    "SELECT r.run_id, s.name, d.kernel, d.input_shapes, d.dtypes, d.hardware FROM runs AS r "
    "LEFT JOIN senders AS s ON s.sender = r.sender "
    "LEFT JOIN runs AS d ON d.run = CASE WHEN r.kernel IS NOT NULL THEN r.run ELSE coalesce((SELECT o.run FROM runs AS "
    "o "
    "WHERE o.run_id = r.run_id AND o.kernel IS NOT NULL AND (o.sender = 0 OR r.sender = 0) ORDER BY o.sender LIMIT 1), "
    "r.run) END WHERE r.run = ?1";

// The key of a removed run or kernel may be used again.
constexpr char kUpsertRun[] =
    "INSERT INTO runs (run, run_id, sender, kernel, name, shapes, dtypes, hardware) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (run) DO UPDATE SET run_id = excluded.run_id, "
    "sender = excluded.sender, kernel = excluded.kernel, name = excluded.name, shapes = excluded.shapes, "
    "dtypes = excluded.dtypes, hardware = excluded.hardware WHERE run_id <> excluded.run_id OR sender <> "
    "excluded.sender "
    "OR kernel <> excluded.kernel OR name <> excluded.name OR shapes <> excluded.shapes OR dtypes <> excluded.dtypes "
    "OR hardware <> excluded.hardware";

// The best attempt is the one with the fastest final row, else with the fastest row.
constexpr char kCount[] = R"SQL(
UPDATE runs SET
  attempts = t.attempts, open_attempts = t.open_attempts, row_count = t.row_count, configs = t.configs,
  failed = t.failed, first_us = t.first_us, last_us = t.last_us,
  spread = CASE WHEN t.measured > 1 AND t.least > 0 THEN (t.most - t.least) / t.least END,
  best_ms = b.best_ms, default_ms = b.default_ms,
  speedup = CASE WHEN b.best_ms > 0 THEN b.default_ms / b.best_ms END,
  noise = b.noise, best_config_id = b.best_config_id, best_attempt_id = b.attempt_id,
  origin = n.origin, algorithm = n.algorithm, dialect = n.dialect, state = n.state
FROM (
  SELECT count(*) AS attempts, sum(state = 'open') AS open_attempts, sum(row_count) AS row_count,
    sum(configs) AS configs, sum(failed) AS failed, min(received_us) AS first_us, max(received_us) AS last_us,
    count(best_ms) AS measured, min(best_ms) AS least, max(best_ms) AS most
  FROM attempts WHERE run = ?1
) AS t
LEFT JOIN (
  SELECT best_ms, default_ms, noise, best_config_id, attempt_id FROM attempts
  WHERE run = ?1 AND best_ms IS NOT NULL ORDER BY best_rank, best_ms, attempt_id LIMIT 1
) AS b ON true
LEFT JOIN (
  SELECT origin, algorithm, dialect, state FROM attempts WHERE run = ?1 ORDER BY received_us DESC, attempt DESC LIMIT 1
) AS n ON true
WHERE runs.run = ?1 AND t.attempts > 0)SQL";

}  // namespace

RunTable::RunTable(storage::sql::Database& dataset, storage::sql::Database& scratch, TextTable& texts)
    : texts_(texts),
      read_run_(dataset, kReadRun),
      read_content_(dataset, "SELECT content_sha256 FROM kernels WHERE kernel = ?1"),
      read_kernel_(dataset, "SELECT kernel_id, name, source FROM kernels WHERE kernel = ?1"),
      upsert_run_(scratch, kUpsertRun),
      upsert_kernel_(
          scratch,
          "INSERT OR REPLACE INTO kernels (kernel, content, name, kernel_id, version, source_bytes, source_lines) "
          "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
      find_kernel_(scratch, "SELECT name FROM kernels WHERE kernel = ?1 AND content = ?2"),
      count_(scratch, kCount),
      remove_(scratch,
              "DELETE FROM runs WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.run = ?1)") {}

absl::StatusOr<bool> RunTable::Describe(int64_t run) {
  ASSIGN_OR_RETURN(const bool found, read_run_.Bind(run).Step());
  if (!found) return false;
  const std::string run_id = read_run_.String(0);
  ASSIGN_OR_RETURN(const int64_t sender, texts_.Key(OptionalText(read_run_, 1)));
  const int64_t kernel = read_run_.IsNull(2) ? 0 : read_run_.Int(2);
  ASSIGN_OR_RETURN(const int64_t shapes, texts_.Key(OptionalText(read_run_, 3)));
  ASSIGN_OR_RETURN(const int64_t dtypes, texts_.Key(OptionalText(read_run_, 4)));
  ASSIGN_OR_RETURN(const int64_t hardware, texts_.Key(OptionalText(read_run_, 5)));
  read_run_.Reset();
  ASSIGN_OR_RETURN(const int64_t name, KernelName(kernel));
  ASSIGN_OR_RETURN(const int64_t changes,
                   upsert_run_.Bind(run, run_id, sender, kernel, name, shapes, dtypes, hardware).RunCounting());
  return changes > 0;
}

absl::StatusOr<int64_t> RunTable::KernelName(int64_t kernel) {
  if (kernel == 0) return 0;
  ASSIGN_OR_RETURN(const bool found, read_content_.Bind(kernel).Step());
  if (!found) return 0;
  const std::string content(read_content_.Bytes(0));
  read_content_.Reset();
  ASSIGN_OR_RETURN(const std::optional<int64_t> name,
                   find_kernel_.Bind(kernel, storage::sql::Blob{content}).QueryInt());
  return name.has_value() ? absl::StatusOr<int64_t>(*name) : StoreKernel(kernel, content);
}

absl::StatusOr<int64_t> RunTable::StoreKernel(int64_t kernel, const std::string& content) {
  ASSIGN_OR_RETURN(const bool found, read_kernel_.Bind(kernel).Step());
  if (!found) return 0;
  const auto kernel_id = OptionalString(read_kernel_, 0);
  ASSIGN_OR_RETURN(const int64_t name, texts_.Key(OptionalText(read_kernel_, 1)));
  const std::optional<std::string_view> source = OptionalText(read_kernel_, 2);
  std::optional<std::string> version;
  std::optional<int64_t> bytes;
  std::optional<int64_t> lines;
  if (source.has_value()) {
    version = record::Sha256Hex(*source).substr(0, kVersionDigits);
    bytes = static_cast<int64_t>(source->size());
    lines = std::count(source->begin(), source->end(), '\n') + (source->empty() || source->back() == '\n' ? 0 : 1);
  }
  read_kernel_.Reset();
  RETURN_IF_ERROR(
      upsert_kernel_.Bind(kernel, storage::sql::Blob{content}, name, kernel_id, version, bytes, lines).Run());
  return name;
}

absl::Status RunTable::Count(int64_t run) {
  RETURN_IF_ERROR(count_.Bind(run).Run());
  return remove_.Bind(run).Run();
}

}  // namespace telemetry::web::summary
