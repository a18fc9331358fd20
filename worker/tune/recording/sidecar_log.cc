#include "worker/tune/recording/sidecar_log.h"

#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::recording {
namespace {

using record::Cat;
using record::sidecar::Dialect;

constexpr std::string_view kCsvLineEnd = "\r\n";
constexpr std::string_view kRecordLineEnd = "\n";
constexpr uint64_t kMostHeaderBytes = 1024;
constexpr int kMostBases = 1000;

std::string CsvPath(const std::string& base) { return base + ".csv"; }
std::string SourcesPath(const std::string& base) { return base + ".sources.csv"; }
std::string RecordsPath(const std::string& base) { return base + ".meta.jsonl"; }

std::string WrapperGraphsPath(const std::string& base) { return base + ".wrapper.jsonl"; }

std::string NumberedBase(const std::string& base, int number) { return number == 1 ? base : Cat(base, "-", number); }

std::string RowText(Dialect dialect, const record::sidecar::Row& row) {
  std::string text;
  record::sidecar::AppendRow(dialect, row, &text);
  return text;
}

std::string SourceText(const record::sidecar::Row& row) {
  return row.source_hash.empty() ? "" : RowText(Dialect::kHelionSources, row);
}

// Writes the dialect's header if the file has none. Returns false if the file begins with something else.
absl::StatusOr<bool> HaveHeader(Dialect dialect, AppendFile* file) {
  ASSIGN_OR_RETURN(const std::string begin, file->Read(kMostHeaderBytes));
  const std::string header = Cat(record::sidecar::DialectHeader(dialect), kCsvLineEnd);
  if (begin.find('\n') == std::string::npos && header.starts_with(begin)) {
    // The file is empty, or its writer was killed while writing the header.
    absl::Status status = begin.empty() ? absl::OkStatus() : file->Truncate(0);
    if (status.ok()) status = file->Append(header, kCsvLineEnd);
    if (!status.ok()) return status;
    return true;
  }
  const std::string_view line = std::string_view(begin).substr(0, begin.find('\n'));
  return record::WithoutSuffix(line, "\r") == record::sidecar::DialectHeader(dialect);
}

absl::Status MakeParentFolder(const std::string& base) {
  const std::filesystem::path path(base);
  std::error_code error;
  if (!path.has_filename() || std::filesystem::is_directory(CsvPath(base), error)) {
    return absl::InvalidArgumentError(
        Cat("the base path '", base, "' of the log names a folder: add a file name, as in ", base, "/tune"));
  }
  if (!path.has_parent_path()) return absl::OkStatus();
  std::filesystem::create_directories(path.parent_path(), error);
  if (!error) return absl::OkStatus();
  return absl::PermissionDeniedError(Cat("cannot make the folder ", path.parent_path().string(),
                                         " for the log: ", error.message(), "; log to another folder"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SidecarLog>> SidecarLog::Open(SidecarLogOptions options) {
  options.base = std::string(record::WithoutSuffix(options.base, ".csv"));
  RETURN_IF_ERROR(MakeParentFolder(options.base));
  std::unique_ptr<SidecarLog> log(new SidecarLog(std::move(options)));
  RETURN_IF_ERROR(log->Select());
  return log;
}

absl::Status SidecarLog::Select() {
  for (int number = 1; number <= kMostBases; ++number) {
    const std::string base = NumberedBase(options_.base, number);
    ASSIGN_OR_RETURN(const bool usable, TryBase(base));
    if (!usable) continue;
    const bool is_news = number > 1 && base != base_;
    base_ = base;
    if (is_news && options_.on_notice) {
      options_.on_notice(
          Cat("the files at ", options_.base, " have another version's header: the log goes to ", CsvPath(base)));
    }
    return absl::OkStatus();
  }
  return absl::UnavailableError(Cat(options_.base, " and ", kMostBases - 1,
                                    " numbered logs beside it have another version's header: log elsewhere"));
}

absl::StatusOr<bool> SidecarLog::TryBase(const std::string& base) {
  ASSIGN_OR_RETURN(AppendFile csv, AppendFile::Open(CsvPath(base)));
  csv_ = std::move(csv);
  sources_.reset();
  lines_.reset();
  ASSIGN_OR_RETURN(const AppendFile::Lock lock, csv_->Acquire());
  absl::StatusOr<bool> rows_fit = HaveHeader(Dialect::kHelion, &*csv_);
  std::error_code ignored;
  if (!rows_fit.ok() || !*rows_fit || !std::filesystem::exists(SourcesPath(base), ignored)) return rows_fit;
  ASSIGN_OR_RETURN(AppendFile sources, AppendFile::Open(SourcesPath(base)));
  return HaveHeader(Dialect::kHelionSources, &sources);
}

absl::StatusOr<AppendFile::Lock> SidecarLog::LockFiles() {
  while (true) {
    {
      absl::StatusOr<AppendFile::Lock> lock = csv_->Acquire();
      if (!lock.ok() || csv_->HasItsPath()) return lock;
    }
    // Another process has moved the files away: write to the files that are there now.
    RETURN_IF_ERROR(Select());
  }
}

absl::Status SidecarLog::OpenSources() {
  if (sources_.has_value() && sources_->HasItsPath()) return absl::OkStatus();
  ASSIGN_OR_RETURN(AppendFile sources, AppendFile::Open(SourcesPath(base_)));
  ASSIGN_OR_RETURN(const bool fits, HaveHeader(Dialect::kHelionSources, &sources));
  if (!fits) {
    return absl::UnavailableError(Cat(
        SourcesPath(base_), " was replaced after the log was opened and has another version's header: move it away"));
  }
  sources_ = std::move(sources);
  return absl::OkStatus();
}

absl::Status SidecarLog::AppendBoth(std::string_view rows, std::string_view sources) {
  ASSIGN_OR_RETURN(const uint64_t size, csv_->Size());
  if (!sources.empty()) {
    RETURN_IF_ERROR(OpenSources());
  }
  absl::Status status = rows.empty() ? absl::OkStatus() : csv_->Append(rows, kCsvLineEnd);
  if (!status.ok() || sources.empty()) return status;
  status = sources_->Append(sources, kCsvLineEnd);
  // The caller repeats the row with its hash.
  if (!status.ok() && !rows.empty()) csv_->Truncate(size).IgnoreError();
  return status;
}

absl::Status SidecarLog::Append(const record::sidecar::Row& row) {
  ASSIGN_OR_RETURN(const AppendFile::Lock lock, LockFiles());
  return AppendBoth(RowText(Dialect::kHelion, row), SourceText(row));
}

absl::Status SidecarLog::AppendMissing(const record::sidecar::Row& row) {
  ASSIGN_OR_RETURN(const AppendFile::Lock lock, LockFiles());
  RETURN_IF_ERROR(ReadLines());
  const std::string rows = RowText(Dialect::kHelion, row);
  const std::string sources = SourceText(row);
  const auto row_there = lines_->find(rows);
  const auto source_there = lines_->find(sources);
  const bool has_row = row_there != lines_->end();
  const bool has_source = sources.empty() || source_there != lines_->end();
  RETURN_IF_ERROR(AppendBoth(has_row ? "" : rows, has_source ? "" : sources));
  if (has_row) lines_->erase(row_there);
  if (has_source && !sources.empty()) lines_->erase(source_there);
  return absl::OkStatus();
}

absl::Status SidecarLog::ReadLines() {
  if (lines_.has_value()) return absl::OkStatus();
  Lines lines;
  std::error_code ignored;
  if (std::filesystem::exists(SourcesPath(base_), ignored)) {
    RETURN_IF_ERROR(OpenSources());
  }
  for (AppendFile* file : {&*csv_, sources_.has_value() ? &*sources_ : nullptr}) {
    if (file == nullptr) continue;
    ASSIGN_OR_RETURN(const std::string text, file->Read(std::numeric_limits<uint64_t>::max()));
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      lines.insert(text.substr(begin, end - begin));
      begin = end;
    }
  }
  lines_ = std::move(lines);
  return absl::OkStatus();
}

absl::Status SidecarLog::AppendRecord(const v1::Run& run, const v1::IrGraph* ir_graph,
                                      const std::vector<record::sidecar::RecordConfig>& configs) {
  return AppendLine(RecordsPath(base_), record::sidecar::FormatHelionMeta(run, ir_graph, configs));
}

absl::Status SidecarLog::AppendWrapperGraph(const v1::Run& run, const v1::IrGraph& graph) {
  return AppendLine(WrapperGraphsPath(base_), record::sidecar::FormatIrRecord(graph, run));
}

absl::Status SidecarLog::AppendLine(const std::string& path, const std::string& line) {
  ASSIGN_OR_RETURN(const AppendFile::Lock lock, LockFiles());
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(path));
  return file.Append(Cat(line, kRecordLineEnd), kRecordLineEnd);
}

}  // namespace telemetry::worker::tune::recording
