#include "server/storage/tables/run_table.h"

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/tables/row_key.h"

namespace telemetry::storage::tables {
namespace {

// Appends a field with its length, so that two different kernels never give the same bytes.
void AppendFramed(const OptionalText& field, std::string* out) {
  if (field) absl::StrAppend(out, "+", field->size(), ":", *field);
  out->push_back(';');
}

}  // namespace

RunTable::RunTable(sql::Database& database, const CurrentSender& sender)
    : sender_(sender),
      find_(database,
            {.text = "SELECT run FROM runs WHERE run_id = ?1 AND sender = ?2", .lock = sql::RowLock::kNoKeyUpdate}),
      insert_(database, "INSERT INTO runs (run_id, sender) VALUES (?1, ?2) ON CONFLICT DO NOTHING RETURNING run"),
      lock_(database, {.text = "SELECT run FROM runs WHERE run = ?1", .lock = sql::RowLock::kNoKeyUpdate}),
      read_(database,
            "SELECT r.kernel, k.kernel_id, k.name, k.source, r.input_shapes, r.dtypes, r.hardware, "
            "r.settings_signature, r.extra_json FROM runs AS r LEFT JOIN kernels AS k ON k.kernel = r.kernel "
            "WHERE r.run = ?1"),
      update_(database,
              "UPDATE runs SET kernel = ?2, input_shapes = ?3, dtypes = ?4, hardware = ?5, settings_signature = ?6, "
              "extra_json = ?7 WHERE run = ?1"),
      add_settings_(database, "INSERT INTO run_settings (run, settings_json) VALUES (?1, ?2) ON CONFLICT DO NOTHING"),
      find_kernel_(database, "SELECT kernel FROM kernels WHERE content_sha256 = ?1"),
      insert_kernel_(database,
                     "INSERT INTO kernels (kernel_id, name, source, content_sha256) VALUES (?1, ?2, ?3, ?4) "
                     "ON CONFLICT DO NOTHING RETURNING kernel"),
      drop_kernel_(database,
                   "DELETE FROM kernels WHERE kernel = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE kernel = ?1)") {}

absl::StatusOr<int64_t> RunTable::Find(const std::string& run_id) {
  if (const std::optional<int64_t> known = KnownKey(run_id, sender_.key())) return *known;
  ASSIGN_OR_RETURN(const std::optional<int64_t> key, find_.Bind(run_id, sender_.key()).QueryInt());
  if (!key.has_value()) return 0;
  Remember(run_id, sender_.key(), *key);
  return *key;
}

absl::StatusOr<int64_t> RunTable::FindOrInsertKey(const std::string& run_id) {
  if (const std::optional<int64_t> known = KnownKey(run_id, sender_.key())) return *known;
  absl::StatusOr<int64_t> key = KeyOfRow(find_.Bind(run_id, sender_.key()), insert_.Bind(run_id, sender_.key()));
  if (key.ok()) Remember(run_id, sender_.key(), *key);
  return key;
}

absl::Status RunTable::Lock(int64_t run) {
  const absl::StatusOr<std::optional<int64_t>> locked = lock_.Bind(run).QueryInt();
  if (!locked.ok() || locked->has_value()) return locked.status();
  return absl::AbortedError("another writer removed the run");
}

std::optional<int64_t> RunTable::KnownKey(const std::string& run_id, int64_t sender) const {
  const auto it = keys_.find(std::pair(run_id, sender));
  return it == keys_.end() ? std::nullopt : std::optional<int64_t>(it->second);
}

void RunTable::Remember(const std::string& run_id, int64_t sender, int64_t key) {
  keys_.emplace(std::pair(run_id, sender), key);
}

absl::Status RunTable::Store(const v1::Run& run, MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(int64_t key, FindOrInsertKey(run.run_id()));
  ASSIGN_OR_RETURN(Row row, Read(key));

  FieldMerge merge;
  merge.Field("kernel_id", row.kernel.kernel_id, TELEMETRY_OPTIONAL(run, kernel_id));
  merge.Field("kernel_name", row.kernel.name, TELEMETRY_OPTIONAL(run, kernel_name));
  merge.Field("kernel_source", row.kernel.source, TELEMETRY_OPTIONAL(run, kernel_source));
  merge.Field("input_shapes", row.input_shapes, TELEMETRY_OPTIONAL(run, input_shapes));
  merge.Field("dtypes", row.dtypes, TELEMETRY_OPTIONAL(run, dtypes));
  merge.Field("hardware", row.hardware, TELEMETRY_OPTIONAL(run, hardware));
  merge.Field("settings_signature", row.settings_signature, TELEMETRY_OPTIONAL(run, settings_signature));
  merge.Field("extra_json", row.extra_json, TELEMETRY_OPTIONAL(run, extra_json));
  if (merge.conflict()) {
    refusal = std::move(merge.conflict());
    return absl::OkStatus();
  }
  if (run.has_settings_json()) {
    RETURN_IF_ERROR(add_settings_.Bind(key, run.settings_json()).Run());
  }
  return merge.changed() ? Write(key, row) : absl::OkStatus();
}

absl::StatusOr<RunTable::Row> RunTable::Read(int64_t run) {
  ASSIGN_OR_RETURN(bool found, read_.Bind(run).Step());
  if (!found) return absl::DataLossError(absl::StrCat("run ", run, " is missing"));
  Row row{.kernel = {TextColumn(read_, 1), TextColumn(read_, 2), TextColumn(read_, 3)},
          .kernel_key = IntColumn(read_, 0),
          .input_shapes = TextColumn(read_, 4),
          .dtypes = TextColumn(read_, 5),
          .hardware = TextColumn(read_, 6),
          .settings_signature = TextColumn(read_, 7),
          .extra_json = TextColumn(read_, 8)};
  read_.Reset();
  return row;
}

absl::Status RunTable::Write(int64_t run, const Row& row) {
  std::optional<int64_t> kernel;
  if (row.kernel.kernel_id || row.kernel.name || row.kernel.source) {
    ASSIGN_OR_RETURN(int64_t key, KernelKey(row.kernel));
    kernel = key;
  }
  absl::Status status =
      update_.Bind(run, kernel, row.input_shapes, row.dtypes, row.hardware, row.settings_signature, row.extra_json)
          .Run();
  if (!status.ok() || kernel == row.kernel_key) return status;
  return DropUnusedKernel(row.kernel_key);
}

absl::StatusOr<int64_t> RunTable::KernelKey(const Kernel& kernel) {
  std::string content;
  AppendFramed(kernel.kernel_id, &content);
  AppendFramed(kernel.name, &content);
  AppendFramed(kernel.source, &content);
  const std::string digest = record::Sha256(content);
  return KeyOfRow(find_kernel_.Bind(sql::Blob{digest}),
                  insert_kernel_.Bind(kernel.kernel_id, kernel.name, kernel.source, sql::Blob{digest}));
}

// Removes a kernel row that was replaced by another row with more fields.
absl::Status RunTable::DropUnusedKernel(std::optional<int64_t> kernel) {
  return kernel ? drop_kernel_.Bind(*kernel).Run() : absl::OkStatus();
}

}  // namespace telemetry::storage::tables
