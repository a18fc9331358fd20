#include "worker/forward/group_forwarder.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/sidecar/kernel_tuner_file.h"
#include "worker/forward/kernel_tuner_lines.h"
#include "worker/forward/measurement_log.h"
#include "worker/forward/row_index.h"
#include "worker/forward/run_log.h"
#include "worker/forward/trace_lines.h"
#include "worker/forward/trace_log.h"

namespace telemetry::worker::forward {
namespace {

// The beginning of a record in a torn or merged line.
constexpr char kMetaStart[] = R"({"run_id")";
constexpr char kIrStart[] = R"({"schema_version")";
constexpr char kMeasurementsStart[] = R"({"kind")";

// Limit for a pr2699 .meta.json, which contains one record on several lines.
constexpr uint64_t kMaxMetaJsonBytes = uint64_t{16} << 20;

constexpr uint64_t kMaxKernelTunerBytes = uint64_t{256} << 20;

// Limit for the bytes kept of unreadable data. More would not be useful and would not fit into a record.
constexpr size_t kMaxRejectBytes = size_t{4} << 20;

// Limit for the memory of lines of the trace that are not linked, or whose attempt may get another id. Above it, the
// trace is read on only when the files are complete.
constexpr size_t kMostHeldBytes = size_t{64} << 20;

v1::Reject::Reason ToRejectReason(const absl::Status& status) {
  return status.code() == absl::StatusCode::kFailedPrecondition ? v1::Reject::REASON_UNSUPPORTED_VERSION
                                                                : v1::Reject::REASON_UNREADABLE;
}

}  // namespace

ForwardCounts& ForwardCounts::operator+=(const ForwardCounts& other) {
  rows += other.rows;
  attempts += other.attempts;
  records += other.records;
  graphs += other.graphs;
  events += other.events;
  rejects += other.rejects;
  waiting_rows += other.waiting_rows;
  bytes += other.bytes;
  return *this;
}

struct GroupForwarder::Reading {
  Reading(const SidecarFiles& files, const std::string& origin, const RecordSink& sink)
      : csv(files.csv()),
        sources(files.sources()),
        meta(files.meta_lines(), kMetaStart),
        ir(files.ir_lines(), kIrStart),
        wrapper_ir(files.wrapper_lines(), kIrStart),
        trace(files.trace()),
        single_meta(files.meta()),
        measurements(files.measurement_lines(), kMeasurementsStart),
        kernel_tuner(files.kernel_tuner()),
        runs(sink),
        attempts(origin, sink),
        traces(origin, sink, &attempts, &runs, &rows),
        measurement_log(sink) {}

  // The files that are read piece by piece.
  std::vector<const GrowingFile*> files() const {
    return {&csv.file, &sources.file, &meta.file, &ir.file, &wrapper_ir.file, &trace, &measurements.file};
  }
  bool is_renamed() const {
    const std::vector<const GrowingFile*> all = files();
    return std::any_of(all.begin(), all.end(), [](const GrowingFile* file) { return file->is_renamed(); });
  }

  CsvFile csv;
  CsvFile sources;
  RecordFile meta;
  RecordFile ir;
  RecordFile wrapper_ir;
  GrowingFile trace;
  TraceLines trace_lines;
  GrowingFile single_meta;
  RecordFile measurements;
  GrowingFile kernel_tuner;
  size_t kernel_tuner_bytes = 0;     // size of the file when it was read
  std::string kernel_tuner_attempt;  // attempt_id of the file's attempt
  size_t kernel_tuner_lines = 0;     // lines of that attempt that were passed on
  std::string single_meta_text;
  std::optional<v1::Run> single_run;

  RunLog runs;
  AttemptLog attempts;
  RowIndex rows;  // empty without a trace
  TraceLog traces;
  MeasurementLog measurement_log;
  bool tracks_sources = false;
  bool tracks_trace = false;
  std::vector<std::pair<record::sidecar::Dialect, record::sidecar::Row>> waiting_rows;  // rows of an unknown run
  std::vector<record::sidecar::CsvParser::Item> waiting_sources;  // hashes whose row has not arrived

  ForwardCounts counts;
};

GroupForwarder::GroupForwarder(SidecarFiles files, std::string origin, IdentityFlags identity, RecordSink sink)
    : files_(std::move(files)),
      job_(JobFolder::Of(files_.base)),
      origin_(job_.exists() ? job_.origin() : std::move(origin)),
      identity_(std::move(identity)),
      sink_(std::move(sink)),
      reading_(std::make_shared<Reading>(files_, origin_, sink_)) {}

ForwardCounts GroupForwarder::counts() const {
  ForwardCounts counts = reading_->counts;
  counts.rows = reading_->attempts.rows() + reading_->measurement_log.rows();
  counts.attempts = reading_->attempts.attempts() + reading_->measurement_log.attempts();
  counts.waiting_rows = reading_->waiting_rows.size();
  counts.events = reading_->traces.lines();
  counts += replaced_counts_;
  return counts;
}

absl::Status GroupForwarder::Replaced() {
  replaced_counts_ = counts();
  return absl::AbortedError("replaced");
}

absl::Status GroupForwarder::Advance() { return ReadAll(Pass::kMoreMayCome); }

absl::Status GroupForwarder::Finish() { return ReadAll(Pass::kComplete); }

std::map<std::string, uint64_t> GroupForwarder::bytes_read() const {
  std::map<std::string, uint64_t> bytes;
  const auto add = [&bytes](const GrowingFile& file, size_t pending) {
    if (file.offset() > 0) bytes[file.name()] = file.offset() - std::min<uint64_t>(pending, file.offset());
  };
  for (const CsvFile* file : {&reading_->csv, &reading_->sources}) add(file->file, file->csv.pending_bytes());
  for (const RecordFile* file : {&reading_->meta, &reading_->ir, &reading_->wrapper_ir, &reading_->measurements}) {
    add(file->file, file->lines.pending_bytes());
  }
  return bytes;
}

GroupForwarder::Rotation GroupForwarder::rotation() const {
  if (!reading_->is_renamed()) return Rotation::kNone;
  size_t successors = 0;
  size_t not_renamed = 0;
  for (const GrowingFile* file : reading_->files()) {
    std::error_code ignored;
    if (file->offset() == 0 || !std::filesystem::exists(file->path(), ignored)) continue;
    ++(file->is_renamed() ? successors : not_renamed);
  }
  if (successors == 0) return Rotation::kNone;
  return not_renamed == 0 ? Rotation::kComplete : Rotation::kInPart;
}

std::string GroupForwarder::refusal() const {
  if (reading_->waiting_rows.empty()) return "";
  const auto& row = reading_->waiting_rows.front().second;
  const v1::Run* record = reading_->single_run.has_value() ? &*reading_->single_run : nullptr;
  return absl::StrCat(files_.csv(), ": ", record::Counted(reading_->waiting_rows.size(), "row"),
                      " refused: ", RunOfRow(row, record, identity_).status().message());
}

absl::Status GroupForwarder::ReadAll(Pass pass) {
  // A file that was replaced, or that came after others were read, is reported as ABORTED. Another replacement during
  // the last reading is left to the next call.
  constexpr int kTries = 3;
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries + 1 == kTries) reading_->traces.NeverReadAgain();
    absl::Status status = ReadAllOnce(pass);
    if (status.code() != absl::StatusCode::kAborted) return status;
    reading_ = std::make_shared<Reading>(files_, origin_, sink_);
  }
  return absl::OkStatus();
}

absl::Status GroupForwarder::ReadAllOnce(Pass pass) {
  RETURN_IF_ERROR(ReadRecords(&reading_->meta, pass, &GroupForwarder::TakeMeta));
  RETURN_IF_ERROR(ReadSingleRecord(pass));
  RETURN_IF_ERROR(ReadRecords(&reading_->ir, pass, &GroupForwarder::TakeIr));
  RETURN_IF_ERROR(ReadRecords(&reading_->wrapper_ir, pass, &GroupForwarder::TakeWrapperIr));
  RETURN_IF_ERROR(TrackRows());
  // The trace is read before the rows, so that the rows of its lines have been written.
  bool trace_at_end = false;
  RETURN_IF_ERROR(ReadTrace(pass, &trace_at_end));
  RETURN_IF_ERROR(ReadRows(pass));
  RETURN_IF_ERROR(ReadSources(pass));
  RETURN_IF_ERROR(LinkTraces(pass, trace_at_end));
  RETURN_IF_ERROR(ReadMeasurements(pass));
  return ReadKernelTuner(pass);
}

absl::Status GroupForwarder::LinkTraces(Pass pass, bool trace_at_end) {
  if (pass == Pass::kMoreMayCome) {
    RETURN_IF_ERROR(reading_->traces.Link(TraceLog::Files::kMoreMayCome));
    return reading_->attempts.Settle();
  }
  RETURN_IF_ERROR(reading_->traces.Link(TraceLog::Files::kComplete));
  RETURN_IF_ERROR(reading_->attempts.SettleFinally());
  while (!trace_at_end) {
    RETURN_IF_ERROR(ReadTrace(pass, &trace_at_end));
    RETURN_IF_ERROR(reading_->traces.Link(TraceLog::Files::kComplete));
  }
  return absl::OkStatus();
}

absl::Status GroupForwarder::TrackRows() {
  // Files that come now belong to those that have the names of the renamed ones.
  if (reading_->is_renamed()) return absl::OkStatus();
  std::error_code ignored;
  const bool has_sources = std::filesystem::exists(files_.sources(), ignored);
  const bool has_trace = std::filesystem::exists(files_.trace(), ignored);
  const bool begins = (has_sources && !reading_->tracks_sources) || (has_trace && !reading_->tracks_trace);
  if (!begins) return absl::OkStatus();
  // Neither hashes nor lines of a trace can be matched to rows that were read without tracking.
  if (reading_->attempts.rows() > 0) return absl::AbortedError("sources or a trace came");
  if (has_sources) reading_->attempts.TrackSources();
  if (has_trace) reading_->attempts.TrackRows(&reading_->rows);
  reading_->tracks_sources |= has_sources;
  reading_->tracks_trace |= has_trace;
  return absl::OkStatus();
}

template <typename Parser, typename Item>
absl::StatusOr<bool> GroupForwarder::ReadItems(GrowingFile& file, Parser& parser, Pass pass, std::vector<Item>* items) {
  std::string bytes;
  ASSIGN_OR_RETURN(const GrowingFile::Change change, file.Read(&bytes));
  if (change == GrowingFile::Change::kReplaced) return Replaced();
  reading_->counts.bytes += bytes.size();
  if (change == GrowingFile::Change::kGrown) {
    parser.Feed(bytes, items);
    return true;
  }
  if (pass == Pass::kComplete) parser.Finish(items);
  return false;
}

absl::Status GroupForwarder::ReadTrace(Pass pass, bool* at_end) {
  for (bool more = true; more;) {
    if (reading_->traces.held_bytes() + reading_->attempts.held_bytes() > kMostHeldBytes) return absl::OkStatus();
    std::vector<TraceLines::Item> items;
    ASSIGN_OR_RETURN(more, ReadItems(reading_->trace, reading_->trace_lines, pass, &items));
    for (const TraceLines::Item& item : items) {
      RETURN_IF_ERROR(item.ok
                          ? reading_->traces.Add(item)
                          : Reject(v1::Reject::REASON_UNREADABLE, reading_->trace, item.line, item.text, item.error));
    }
  }
  *at_end = true;
  return absl::OkStatus();
}

absl::Status GroupForwarder::ReadRecords(RecordFile* file, Pass pass,
                                         absl::Status (GroupForwarder::*take)(const record::Json&)) {
  for (bool more = true; more;) {
    std::vector<RecordLines::Item> items;
    ASSIGN_OR_RETURN(more, ReadItems(file->file, file->lines, pass, &items));
    for (const RecordLines::Item& item : items) {
      absl::Status bad = absl::InvalidArgumentError(item.error);
      if (item.ok) bad = (this->*take)(item.record);
      if (bad.ok()) continue;
      // An error of the sink ends the reading; a faulty record does not.
      if (bad.code() != absl::StatusCode::kInvalidArgument && bad.code() != absl::StatusCode::kFailedPrecondition) {
        return bad;
      }
      const std::string raw = item.ok ? record::ToJson(item.record) : item.raw;
      RETURN_IF_ERROR(Reject(ToRejectReason(bad), file->file, item.line, raw, std::string(bad.message())));
    }
  }
  return absl::OkStatus();
}

absl::Status GroupForwarder::ReadSingleRecord(Pass pass) {
  // Each attempt truncates and rewrites the file, so it is read completely, and it may be incomplete.
  GrowingFile& file = reading_->single_meta;
  std::string text;
  std::string bytes;
  file.Restart();
  do {
    RETURN_IF_ERROR(file.Read(&bytes).status());
    text += bytes;
  } while (!bytes.empty() && text.size() < kMaxMetaJsonBytes);
  if (text.empty() || text == reading_->single_meta_text) return absl::OkStatus();

  absl::StatusOr<record::Json> json = record::ParseJson(text);
  absl::StatusOr<record::sidecar::MetaRecord> meta =
      json.ok() ? record::sidecar::ParseMetaRecord(*json) : json.status();
  if (!meta.ok()) {
    if (pass == Pass::kMoreMayCome) return absl::OkStatus();
    return Reject(ToRejectReason(meta.status()), file, 1, text, std::string(meta.status().message()));
  }
  reading_->counts.bytes += text.size();
  reading_->single_meta_text = std::move(text);
  reading_->single_run = meta->run;
  ++reading_->counts.records;
  return reading_->runs.AddRecord(*meta);
}

absl::Status GroupForwarder::ReadRows(Pass pass) {
  RETURN_IF_ERROR(TakeWaitingRows());

  CsvFile& csv = reading_->csv;
  for (bool more = true; more;) {
    std::vector<record::sidecar::CsvParser::Item> items;
    ASSIGN_OR_RETURN(more, ReadItems(csv.file, csv.csv, pass, &items));
    for (record::sidecar::CsvParser::Item& item : items) {
      absl::Status status;
      if (item.kind == record::sidecar::CsvParser::Kind::kRow) {
        status = TakeRow(item.dialect, std::move(item.row));
      } else if (item.kind == record::sidecar::CsvParser::Kind::kBad) {
        status = Reject(v1::Reject::REASON_UNREADABLE, csv.file, item.line, item.raw, item.error);
      }
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status GroupForwarder::ReadSources(Pass pass) {
  if (!reading_->tracks_sources) return absl::OkStatus();
  CsvFile& sources = reading_->sources;
  std::vector<record::sidecar::CsvParser::Item> items = std::exchange(reading_->waiting_sources, {});
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, ReadItems(sources.file, sources.csv, pass, &items));
  }
  for (record::sidecar::CsvParser::Item& item : items) {
    if (item.kind == record::sidecar::CsvParser::Kind::kHeader) continue;
    std::string error = item.error;
    std::string raw = item.raw;
    if (item.kind == record::sidecar::CsvParser::Kind::kRow) {
      ASSIGN_OR_RETURN(bool matched, reading_->attempts.AddSourceHash(item.row));
      if (matched) continue;
      if (pass == Pass::kMoreMayCome) {
        reading_->waiting_sources.push_back(std::move(item));
        continue;
      }
      error = absl::StrCat("no row of ", reading_->csv.file.name(),
                           " has this run_id, timestamp_s, config_id, generation and status");
      record::sidecar::AppendRow(record::sidecar::Dialect::kHelionSources, item.row, &raw);
    }
    RETURN_IF_ERROR(Reject(v1::Reject::REASON_UNREADABLE, sources.file, item.line, raw, error));
  }
  return absl::OkStatus();
}

absl::Status GroupForwarder::ReadMeasurements(Pass pass) {
  // Looked up before the file is read to its end.
  const bool has_ended = pass == Pass::kComplete && job_.has_ended();
  RETURN_IF_ERROR(ReadRecords(&reading_->measurements, pass, &GroupForwarder::TakeMeasurementsLine));
  return has_ended ? reading_->measurement_log.AbandonOpen() : absl::OkStatus();
}

absl::Status GroupForwarder::ReadKernelTuner(Pass pass) {
  // The end of the file is rewritten when a search continues, so it is read completely.
  GrowingFile& file = reading_->kernel_tuner;
  std::string text;
  std::string bytes;
  file.Restart();
  do {
    RETURN_IF_ERROR(file.Read(&bytes).status());
    text += bytes;
  } while (!bytes.empty() && text.size() < kMaxKernelTunerBytes);
  if (text.size() == reading_->kernel_tuner_bytes || !record::sidecar::LooksLikeKernelTunerFile(text)) {
    return absl::OkStatus();
  }
  const absl::StatusOr<record::sidecar::KernelTunerFile> read = record::sidecar::ParseKernelTunerFile(text);
  // A file that is being written is read again when it has grown.
  if (!read.ok() && pass == Pass::kMoreMayCome) return absl::OkStatus();
  reading_->kernel_tuner_bytes = text.size();
  reading_->counts.bytes += text.size();
  if (!read.ok()) return Reject(ToRejectReason(read.status()), file, 1, text, std::string(read.status().message()));
  return TakeKernelTuner(LinesOfKernelTuner(
      *read,
      {.name = std::filesystem::path(files_.base).filename().string(), .origin = origin_, .identity = identity_}));
}

absl::Status GroupForwarder::TakeKernelTuner(const std::vector<record::sidecar::MeasurementsLine>& lines) {
  if (lines.empty()) return absl::OkStatus();
  const std::string& attempt_id = std::get<record::sidecar::AttemptLine>(lines.front()).attempt.attempt_id();
  if (attempt_id != reading_->kernel_tuner_attempt) reading_->kernel_tuner_lines = 0;
  reading_->kernel_tuner_attempt = attempt_id;
  for (size_t at = reading_->kernel_tuner_lines; at < lines.size(); ++at) {
    RETURN_IF_ERROR(reading_->measurement_log.Add(lines[at]));
  }
  reading_->kernel_tuner_lines = std::max(reading_->kernel_tuner_lines, lines.size());
  return absl::OkStatus();
}

absl::Status GroupForwarder::TakeMeasurementsLine(const record::Json& record) {
  return reading_->measurement_log.Add(record);
}

absl::Status GroupForwarder::TakeMeta(const record::Json& record) {
  ASSIGN_OR_RETURN(record::sidecar::MetaRecord meta, record::sidecar::ParseMetaRecord(record));
  RETURN_IF_ERROR(reading_->runs.AddRecord(meta));
  ++reading_->counts.records;
  return meta.ir_graph.has_value() ? TakeGraph(*std::move(meta.ir_graph)) : absl::OkStatus();
}

absl::Status GroupForwarder::TakeIr(const record::Json& record) {
  ASSIGN_OR_RETURN(v1::IrGraph graph, record::sidecar::ParseIrRecord(record));
  return TakeGraph(std::move(graph));
}

absl::Status GroupForwarder::TakeWrapperIr(const record::Json& record) {
  ASSIGN_OR_RETURN(v1::IrGraph graph, record::sidecar::ParseIrRecord(record));
  graph.set_kind("wrapper");
  return TakeGraph(std::move(graph));
}

absl::Status GroupForwarder::TakeGraph(v1::IrGraph graph) {
  v1::Record record;
  *record.mutable_ir_graph() = std::move(graph);
  RETURN_IF_ERROR(sink_(record));
  ++reading_->counts.graphs;
  return absl::OkStatus();
}

absl::Status GroupForwarder::TakeWaitingRows() {
  for (auto& [dialect, row] : std::exchange(reading_->waiting_rows, {})) {
    RETURN_IF_ERROR(TakeRow(dialect, std::move(row)));
  }
  return absl::OkStatus();
}

absl::Status GroupForwarder::TakeRow(record::sidecar::Dialect dialect, record::sidecar::Row row) {
  std::optional<v1::Run> run;
  if (row.run_id.empty()) {
    const v1::Run* record = reading_->single_run.has_value() ? &*reading_->single_run : nullptr;
    absl::StatusOr<v1::Run> found = RunOfRow(row, record, identity_);
    if (!found.ok()) {
      reading_->waiting_rows.emplace_back(dialect, std::move(row));
      return absl::OkStatus();
    }
    run = *std::move(found);
    row.run_id = run->run_id();
  }
  absl::Status status = reading_->runs.AddRow(row, run.has_value() ? &*run : nullptr);
  return status.ok() ? reading_->attempts.Add(dialect, row) : status;
}

absl::Status GroupForwarder::Reject(v1::Reject::Reason reason, const GrowingFile& file, uint64_t line,
                                    std::string_view raw, std::string_view message) {
  ++reading_->counts.rejects;
  v1::Record record;
  v1::Reject& reject = *record.mutable_reject();
  reject.set_reason(reason);
  reject.set_message(raw.size() <= kMaxRejectBytes
                         ? std::string(message)
                         : absl::StrCat(std::string(message), " (only the first ", kMaxRejectBytes, " of ", raw.size(),
                                        " bytes are kept)"));
  reject.set_source(file.name());
  reject.set_line(line);
  reject.set_raw(std::string(raw.substr(0, kMaxRejectBytes)));
  reject.set_origin(origin_);
  return sink_(record);
}

}  // namespace telemetry::worker::forward
