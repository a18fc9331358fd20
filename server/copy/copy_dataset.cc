#include "server/copy/copy_dataset.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/copy/copy_place.h"
#include "server/copy/copy_progress.h"
#include "server/copy/dataset_tables.h"
#include "server/copy/row_reader.h"
#include "server/copy/row_writer.h"
#include "server/copy/source_state.h"
#include "server/storage/any/any_store.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::copy {
namespace {

using storage::sql::Statement;
using storage::sql::Transaction;

// The state of one call of CopyDataset().
class DatasetCopy {
 public:
  DatasetCopy(CopyPlace& source, CopyPlace& target, std::vector<DatasetTable> tables, const CopyOptions& options)
      : source_(source), target_(target), tables_(std::move(tables)), options_(options) {}

  absl::StatusOr<CopyReport> Run();

 private:
  absl::Status BeginOrGoOn();
  absl::Status RequireEmpty();
  absl::Status CopyTables();
  absl::Status CopyTable(size_t index);
  absl::Status VerifyTables();
  absl::Status VerifyExports();
  absl::Status RequireUnchanged();
  absl::Status Finish();

  void Report(const char* what, const std::string& table, int64_t rows) const {
    if (options_.on_progress) options_.on_progress(what, table, rows);
  }
  std::string To() const { return storage::any::WithoutPasswords(options_.to); }
  std::string From() const { return storage::any::WithoutPasswords(options_.from); }

  CopyPlace& source_;
  CopyPlace& target_;
  const std::vector<DatasetTable> tables_;  // the tables that both places have
  const CopyOptions& options_;
  CopyProgress progress_;
  CopyReport report_;
};

absl::StatusOr<CopyReport> DatasetCopy::Run() {
  // All tables are read in one snapshot of the source.
  ASSIGN_OR_RETURN(Transaction view, Transaction::BeginRead(source_.database()));
  absl::Status status = BeginOrGoOn();
  if (status.ok()) status = CopyTables();
  if (status.ok()) status = target_.Settle();
  if (status.ok()) status = VerifyTables();
  if (status.ok()) status = view.Commit();
  if (!status.ok()) return status;
  status = VerifyExports();
  // Checks for changes first: if a collector changed the source meanwhile, its export differs, too.
  RETURN_IF_ERROR(RequireUnchanged());
  if (status.ok()) status = Finish();
  if (!status.ok()) return status;
  return std::move(report_);
}

absl::Status DatasetCopy::BeginOrGoOn() {
  ASSIGN_OR_RETURN(const std::string state, SourceState(source_, tables_));
  {
    Statement id(source_.database(), "SELECT dataset_id FROM dataset");
    ASSIGN_OR_RETURN(const bool row, id.Step());
    if (!row) return absl::FailedPreconditionError(absl::StrCat(From(), " holds no dataset"));
    report_.dataset_id = record::HexEncode(id.Bytes(0));
  }
  ASSIGN_OR_RETURN(const bool unfinished, target_.IsUnfinished());
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::BeginWrite(target_.database()));
  if (unfinished) {
    ASSIGN_OR_RETURN(CopyProgress progress, ReadProgress(target_.database()));
    if (progress.source_state != state) {
      return absl::FailedPreconditionError(
          absl::StrCat(To(),
                       " is an unfinished copy of another dataset, of this one before it changed, or by another "
                       "version of this program: remove it and copy again"));
    }
    progress_ = std::move(progress);
    report_.went_on = true;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(RequireEmpty());
  progress_ = {.source_state = state, .table = tables_.front().name};
  // An empty dataset already has an id, but no producer knows it.
  absl::Status status = target_.database().Execute("DELETE FROM dataset");
  if (status.ok()) status = BeginCopy(target_.database(), progress_);
  if (status.ok()) status = transaction.Commit();
  // Moves the mark from the log to the file itself, for programs that read no log.
  return status.ok() ? target_.Settle() : status;
}

absl::Status DatasetCopy::RequireEmpty() {
  for (const DatasetTable& table : tables_) {
    if (table.name == "dataset") continue;
    ASSIGN_OR_RETURN(
        const std::optional<int64_t> row,
        Statement(target_.database(), absl::StrCat("SELECT 1 FROM ", table.name, " LIMIT 1").c_str()).QueryInt());
    if (!row.has_value()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(To(), " holds a dataset already: use a new file or an empty database"));
  }
  return absl::OkStatus();
}

absl::Status DatasetCopy::CopyTables() {
  if (progress_.table.empty()) return absl::OkStatus();  // only the last step is missing
  const auto under_way = std::find_if(tables_.begin(), tables_.end(),
                                      [&](const DatasetTable& table) { return table.name == progress_.table; });
  if (under_way == tables_.end()) return absl::DataLossError(absl::StrCat("there is no table ", progress_.table));
  for (auto table = under_way; table != tables_.end(); ++table) {
    RETURN_IF_ERROR(CopyTable(table - tables_.begin()));
  }
  return absl::OkStatus();
}

absl::Status DatasetCopy::CopyTable(size_t index) {
  const DatasetTable& table = tables_[index];
  RowReader reader(source_.database(), table, progress_.place);
  bool more = true;
  // The current row of the reader belongs to the next transaction.
  absl::StatusOr<bool> row = reader.Step();
  while (more) {
    if (!row.ok()) return row.status();
    ASSIGN_OR_RETURN(Transaction transaction, Transaction::BeginWrite(target_.database()));
    absl::Status status = RequireStep(target_.database(), progress_.step);
    if (!status.ok()) return status;
    RowWriter writer(target_.database(), table);
    int64_t rows = 0;
    while (*row && (rows < options_.rows_per_step || !reader.before().has_value())) {
      if (status = writer.Add(reader.run(), reader.row()); !status.ok()) return status;
      ++rows;
      row = reader.Step();
      if (!row.ok()) return row.status();
    }
    more = *row;
    ++progress_.step;
    if (more) {
      progress_.place = *reader.before();
    } else {
      progress_.table = index + 1 < tables_.size() ? tables_[index + 1].name : "";
      progress_.place = {};
    }
    status = WriteProgress(target_.database(), progress_);
    if (status.ok()) status = transaction.Commit();
    if (!status.ok()) return status;
    report_.rows += rows;
    Report("copied", table.name, report_.rows);
  }
  return absl::OkStatus();
}

absl::Status DatasetCopy::VerifyTables() {
  ASSIGN_OR_RETURN(const Transaction transaction, Transaction::BeginRead(target_.database()));
  int64_t rows = 0;
  for (const DatasetTable& table : tables_) {
    ASSIGN_OR_RETURN(const TableHash original, HashTable(source_.database(), table));
    ASSIGN_OR_RETURN(const TableHash copy, HashTable(target_.database(), table));
    if (copy != original) {
      return absl::DataLossError(absl::StrCat("the table ", table.name, " has ", copy.rows, " rows in ", To(), " and ",
                                              original.rows, " in ", From(),
                                              ", and they are not the same: remove the copy and copy again"));
    }
    rows += copy.rows;
    report_.tables.emplace_back(table.name, copy);
    Report("verified", table.name, rows);
  }
  return absl::OkStatus();
}

absl::Status DatasetCopy::VerifyExports() {
  std::vector<std::vector<ExportHash>> exports;
  for (CopyPlace* const place : {&source_, &target_}) {
    ASSIGN_OR_RETURN(std::unique_ptr<storage::StoreReader> reader, place->OpenReader());
    ASSIGN_OR_RETURN(std::vector<ExportHash> hashes, HashExport(*reader));
    exports.push_back(std::move(hashes));
  }
  if (exports[0] != exports[1]) {
    return absl::DataLossError(
        absl::StrCat("exports of ", From(), " and ", To(), " are not the same: remove the copy and copy again"));
  }
  report_.files = std::move(exports[0]);
  return absl::OkStatus();
}

absl::Status DatasetCopy::RequireUnchanged() {
  ASSIGN_OR_RETURN(const Transaction transaction, Transaction::BeginRead(source_.database()));
  ASSIGN_OR_RETURN(const std::string state, SourceState(source_, tables_));
  if (state == progress_.source_state) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(From(),
                                         " has changed while it was copied: stop the collectors that serve it, "
                                         "remove the copy and copy again"));
}

absl::Status DatasetCopy::Finish() {
  ASSIGN_OR_RETURN(const int64_t next_attempt, source_.NextAttempt());
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::BeginWrite(target_.database()));
  absl::Status status = target_.SetNextKeys(tables_, next_attempt);
  if (status.ok()) status = EndCopy(target_.database());
  if (status.ok()) status = transaction.Commit();
  if (!status.ok()) return status;
  // The copy is complete even if this fails, and a repeated call would find no copy to resume.
  target_.Settle().IgnoreError();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CopyReport> CopyDataset(const CopyOptions& options) {
  ASSIGN_OR_RETURN(std::vector<DatasetTable> tables, DatasetTables());
  ASSIGN_OR_RETURN(std::unique_ptr<CopyPlace> source, OpenCopySource(options.from));
  ASSIGN_OR_RETURN(std::unique_ptr<CopyPlace> target, OpenCopyTarget(options.to));
  return DatasetCopy(*source, *target, std::move(tables), options).Run();
}

}  // namespace telemetry::copy
