#include "server/export/render/dataset_renderer.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/sidecar/row.h"
#include "proto/record/sidecar/trace_line.h"
#include "server/export/render/detail_line.h"
#include "server/export/render/keyed_row.h"
#include "server/export/render/run_line.h"

namespace telemetry::exporter::render {
namespace {

constexpr size_t kLargeText = 1 << 20;

std::string HeaderLine(record::sidecar::Dialect dialect) {
  return std::string(record::sidecar::DialectHeader(dialect)) + "\r\n";
}

using HashOfSeq = absl::flat_hash_map<uint64_t, std::string_view>;

HashOfSeq HashesBySeq(const v1::ExportRows& rows) {
  HashOfSeq hash_of_seq;
  for (const v1::SourceHash& hash : rows.source_hashes()) hash_of_seq[hash.seq()] = hash.source_hash();
  return hash_of_seq;
}

absl::Status OutOfOrder(const char* what, const char* before) {
  return absl::DataLossError(absl::StrCat("the dataset's stream has ", what, " before any ", before,
                                          ": its source is damaged or a newer version"));
}

}  // namespace

DatasetRenderer::DatasetRenderer(Layout layout, Emit emit, bool with_details)
    : layout_(layout),
      dialect_(RowDialect(layout)),
      with_details_(with_details),
      has_config_columns_(layout == Layout::kPr2750 || layout == Layout::kPr2699),
      emit_(std::move(emit)),
      configs_(/*fields_are_json=*/layout == Layout::kKeyed) {
  if (IsOfKernelTuner(layout)) {
    kernel_tuner_.emplace(layout);
  } else {
    Text(Part::kRows) = dialect_.has_value() ? HeaderLine(*dialect_) : KeyedHeader() + "\r\n";
  }
  if (with_details_) counts_.details = 0;
}

absl::Status DatasetRenderer::Add(const v1::ExportItem& item) {
  switch (item.kind_case()) {
    case v1::ExportItem::kRun:
      return BeginRun(item.run());
    case v1::ExportItem::kIrGraph:
      return AddGraph(item.ir_graph());
    case v1::ExportItem::kConfigs:
      for (const v1::Config& config : item.configs().configs()) configs_.Add(config);
      config_ = {};
      return absl::OkStatus();
    case v1::ExportItem::kRunConfigs:
      return AddRunConfigs(item.run_configs());
    case v1::ExportItem::kAttempt:
      return BeginAttempt(item.attempt());
    case v1::ExportItem::kRows:
      return AddRows(item.rows());
    case v1::ExportItem::kEvents:
      return AddEvents(item.events());
    case v1::ExportItem::kTotals:
    case v1::ExportItem::kFilterValues:
    case v1::ExportItem::KIND_NOT_SET:
      break;
  }
  return absl::OkStatus();
}

absl::Status DatasetRenderer::Finish() {
  absl::Status status = EndRun();
  if (status.ok()) status = kernel_tuner_.has_value() ? FinishKernelTuner() : FlushRecords();
  if (!status.ok()) return status;
  for (Part part : kAllParts) {
    if (!IsDue(part)) continue;
    if (status = emit_(part, &Text(part)); !status.ok()) return status;
  }
  counts_.configs = configs_.size();
  for (const auto& [name, count] : status_counts_) counts_.measurements_by_status[name] = count;
  return absl::OkStatus();
}

bool DatasetRenderer::IsDue(Part part) const {
  if (!texts_[static_cast<size_t>(part)].empty()) return true;
  const bool is_always_written = IsAlwaysWritten(part, layout_) || (part == Part::kDetails && with_details_);
  return is_always_written && !emitted_[static_cast<size_t>(part)];
}

absl::Status DatasetRenderer::BeginRun(const v1::RunSummary& summary) {
  const std::string last_run_id = run_.has_value() ? run_->columns.run().run_id() : "";
  // Runs of several senders may have the same run_id.
  const bool is_another = summary.run().run_id() != last_run_id;
  if (HoldsOneRun(layout_) && run_.has_value() && is_another) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", std::string(LayoutName(layout_)), " layout can hold only one run, but the selection has several (",
        last_run_id, ", ", summary.run().run_id(), ", ...): select one with --run, or use another --layout"));
  }
  RETURN_IF_ERROR(EndRun());
  run_.emplace(layout_, summary.run());
  config_ = {};
  if (!is_another) return absl::OkStatus();
  ++counts_.runs;
  return FlushRecords();
}

absl::Status DatasetRenderer::EndRun() {
  RETURN_IF_ERROR(EndAttempt());
  if (!run_.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::optional<RecordParts> parts,
                   run_->record.Parts(run_->columns.run(), configs_, &config_formatter_));
  run_.reset();
  if (!parts.has_value()) return absl::OkStatus();
  for (RecordParts& record : records_) {
    if (record.Merge(*parts)) return absl::OkStatus();
  }
  records_.push_back(*std::move(parts));
  return absl::OkStatus();
}

absl::Status DatasetRenderer::FlushRecords() {
  if (layout_ == Layout::kPr2699 && records_.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the pr2699 layout can hold only one record, but senders describe run ",
                     records_.front().run.run_id(), " differently: use another --layout"));
  }
  absl::Status status;
  if (layout_ == Layout::kKeyed && !records_.empty()) {
    std::vector<v1::Run> descriptions;
    for (RecordParts& parts : records_) descriptions.push_back(std::move(parts.run));
    status = AppendRecord(FormatRun(descriptions) + "\n");
  } else {
    for (const RecordParts& parts : records_) {
      if (status.ok()) status = AppendRecord(parts.Format(layout_));
    }
  }
  records_.clear();
  graphs_written_.clear();
  return status;
}

absl::Status DatasetRenderer::FinishKernelTuner() {
  std::vector<v1::Run> descriptions;
  for (RecordParts& parts : records_) descriptions.push_back(std::move(parts.run));
  records_.clear();
  counts_.records = descriptions.empty() || layout_ != Layout::kT4 ? 0 : 1;
  return kernel_tuner_->Finish(descriptions, &Text(Part::kRows), &Text(Part::kMeta));
}

absl::Status DatasetRenderer::AppendRecord(const std::string& record) {
  if (record.empty()) return absl::OkStatus();
  ++counts_.records;
  Text(Part::kMeta).append(record);
  return EmitIfLarge(Part::kMeta);
}

absl::Status DatasetRenderer::AddGraph(const v1::IrGraph& graph) {
  if (!run_.has_value()) return OutOfOrder("an IR graph", "run");
  if (layout_ == Layout::kPr2699 || layout_ == Layout::kV11 || kernel_tuner_.has_value()) return absl::OkStatus();
  const bool is_wrapper = graph.kind() == "wrapper";
  if (!is_wrapper && graph.kind() != "device") {
    ++counts_.unknown_ir_graphs[graph.kind()];
    return absl::OkStatus();
  }
  const bool is_in_record = layout_ == Layout::kHelion && !is_wrapper;
  const std::string line =
      is_in_record ? graph.SerializeAsString() : record::sidecar::FormatIrRecord(graph, run_->columns.run());
  // Equal graphs of several senders are counted and written once.
  const bool is_new = graphs_written_.insert(absl::StrCat(graph.kind(), record::Sha256(line))).second;
  if (is_new) ++counts_.ir_graphs;
  if (is_in_record) run_->record.SetGraph(graph);
  if (is_in_record || !is_new) return absl::OkStatus();
  const Part part = is_wrapper ? Part::kWrapperIr : Part::kIr;
  absl::StrAppend(&Text(part), line, "\n");
  return EmitIfLarge(part);
}

absl::Status DatasetRenderer::AddRunConfigs(const v1::ExportRunConfigs& run_configs) {
  if (!run_.has_value()) return OutOfOrder("a run's config", "run");
  for (const v1::RunConfig& run_config : run_configs.run_configs()) {
    run_->record.Add(run_config);
    if (has_config_columns_) run_->columns.Add(run_config);
  }
  return absl::OkStatus();
}

absl::Status DatasetRenderer::BeginAttempt(const v1::AttemptSummary& summary) {
  if (!run_.has_value()) return OutOfOrder("an attempt", "run");
  RETURN_IF_ERROR(EndAttempt());
  attempt_.emplace(CurrentAttempt{
      .summary = summary, .attempt_id = record::HexEncode(summary.attempt().attempt_id()), .exported = {}});
  if (kernel_tuner_.has_value()) kernel_tuner_->BeginAttempt(summary.attempt());
  ++counts_.attempts;
  return absl::OkStatus();
}

absl::Status DatasetRenderer::EndAttempt() {
  if (!attempt_.has_value()) return absl::OkStatus();
  absl::StrAppend(&Text(Part::kAttempts), FormatAttempt(attempt_->summary, attempt_->exported), "\n");
  attempt_.reset();
  return EmitIfLarge(Part::kAttempts);
}

absl::Status DatasetRenderer::AddRows(const v1::ExportRows& rows) {
  if (!attempt_.has_value()) return OutOfOrder("rows", "attempt");
  if (kernel_tuner_.has_value()) return AddKernelTunerRows(rows);
  const HashOfSeq hash_of_seq = layout_ == Layout::kKeyed ? HashesBySeq(rows) : HashOfSeq();
  for (const v1::Measurement& row : rows.measurements()) {
    if (IsOnlyInTrace(row)) continue;
    if (row.config_id() != config_.config_id) {
      RETURN_IF_ERROR(SelectConfig(row));
    }
    const auto hash = hash_of_seq.find(row.seq());
    AppendRow(row, hash == hash_of_seq.end() ? std::string_view() : hash->second);
    RETURN_IF_ERROR(EmitIfLarge(Part::kRows));
  }
  if (!rows.source_hashes().empty() && layout_ == Layout::kHelion) {
    RETURN_IF_ERROR(AppendSourceHashes(rows));
  }
  return with_details_ ? AppendDetails(rows) : absl::OkStatus();
}

absl::Status DatasetRenderer::AddKernelTunerRows(const v1::ExportRows& rows) {
  auto detail = rows.details().begin();
  for (const v1::Measurement& row : rows.measurements()) {
    const bool is_detailed = detail != rows.details().end() && detail->seq() == row.seq();
    if (row.config_id() != config_.config_id) {
      RETURN_IF_ERROR(SelectConfig(row));
    }
    if (kernel_tuner_->Add(row, is_detailed ? &*detail : nullptr, config_.text, &Text(Part::kRows))) CountRow(row);
    if (is_detailed) ++detail;
    RETURN_IF_ERROR(EmitIfLarge(Part::kRows));
  }
  return with_details_ ? AppendDetails(rows) : absl::OkStatus();
}

bool DatasetRenderer::IsOnlyInTrace(const v1::Measurement& row) const {
  return dialect_.has_value() && row.seq() >= record::sidecar::kFirstTraceSeq &&
         attempt_->summary.attempt().dialect() == record::sidecar::DialectName(record::sidecar::Dialect::kHelion);
}

absl::Status DatasetRenderer::AddEvents(const v1::ExportEvents& events) {
  if (!attempt_.has_value()) return OutOfOrder("events", "attempt");
  if (layout_ != Layout::kHelion) return absl::OkStatus();
  for (const v1::AttemptEvent& event : events.events()) {
    absl::StrAppend(&Text(Part::kTrace), event.text(), "\n");
    ++counts_.trace_lines;
    RETURN_IF_ERROR(EmitIfLarge(Part::kTrace));
  }
  return absl::OkStatus();
}

absl::Status DatasetRenderer::SelectConfig(const v1::Measurement& row) {
  const ConfigText* config = configs_.Find(row.config_id());
  if (config == nullptr) {
    return absl::DataLossError(absl::StrCat("row ", row.seq(), " of attempt ", attempt_->attempt_id, " names config ",
                                            record::FormatConfigId(row.config_id()),
                                            ", which the dataset does not hold: check the database"));
  }
  run_->record.SawConfig(row.config_id());
  config_.config_id = row.config_id();
  config_.text = config->text;
  config_.field = config->field;
  config_.columns = has_config_columns_ ? &run_->columns.Of(row.config_id(), *config) : nullptr;
  return absl::OkStatus();
}

void DatasetRenderer::AppendRow(const v1::Measurement& row, std::string_view source_hash) {
  if (dialect_.has_value()) {
    AppendSidecarRow(*dialect_, row);
  } else {
    AppendKeyedRow(row,
                   {.run_id = run_->columns.run().run_id(),
                    .attempt_id = attempt_->attempt_id,
                    .config_field = config_.field,
                    .source_hash = source_hash},
                   &Text(Part::kRows));
    if (!source_hash.empty()) ++counts_.source_hashes;
  }
  CountRow(row);
}

void DatasetRenderer::CountRow(const v1::Measurement& row) {
  ++counts_.measurements;
  ++attempt_->exported.rows;
  if (row.status() == "ok") ++attempt_->exported.ok_rows;
  CountStatus(row.status());
}

void DatasetRenderer::AppendSidecarRow(record::sidecar::Dialect dialect, const v1::Measurement& row) {
  const v1::Run& run = run_->columns.run();
  record::sidecar::RowView view;
  view.run_id = run.run_id();
  view.timestamp_s = row.timestamp_s();
  view.config_index = row.seq();
  view.config_id = row.config_id();
  view.generation = row.generation();
  view.status = row.status();
  if (row.has_perf_ms()) view.perf_ms = row.perf_ms();
  if (row.has_compile_time_s()) view.compile_time_s = row.compile_time_s();
  view.config_field = config_.field;
  if (config_.columns != nullptr) {
    view.kernel_id = run.kernel_id();
    view.sample_id = config_.columns->sample_id;
    view.decorator_field = config_.columns->decorator_field;
  }
  record::sidecar::AppendRow(dialect, view, &Text(Part::kRows));
}

absl::Status DatasetRenderer::AppendSourceHashes(const v1::ExportRows& rows) {
  std::string& text = Text(Part::kSources);
  if (counts_.source_hashes == 0) text = HeaderLine(record::sidecar::Dialect::kHelionSources);
  HashOfSeq hash_of_seq = HashesBySeq(rows);
  for (const v1::Measurement& row : rows.measurements()) {
    auto hash = hash_of_seq.find(row.seq());
    if (hash == hash_of_seq.end()) continue;
    record::sidecar::RowView view;
    view.run_id = run_->columns.run().run_id();
    view.timestamp_s = row.timestamp_s();
    view.config_id = row.config_id();
    view.generation = row.generation();
    view.status = row.status();
    view.source_hash = hash->second;
    record::sidecar::AppendRow(record::sidecar::Dialect::kHelionSources, view, &text);
    ++counts_.source_hashes;
    hash_of_seq.erase(hash);
  }
  if (!hash_of_seq.empty()) return OutOfOrder("a source hash", "row that it belongs to");
  return EmitIfLarge(Part::kSources);
}

absl::Status DatasetRenderer::AppendDetails(const v1::ExportRows& rows) {
  auto detail = rows.details().begin();
  for (const v1::Measurement& row : rows.measurements()) {
    const bool is_detailed = detail != rows.details().end() && detail->seq() == row.seq();
    if (!is_detailed && !row.has_failure()) continue;
    absl::StrAppend(&Text(Part::kDetails),
                    FormatDetail(attempt_->summary.attempt(), row, is_detailed ? &*detail : nullptr), "\n");
    ++*counts_.details;
    if (is_detailed) ++detail;
  }
  if (detail != rows.details().end()) return OutOfOrder("a detail", "row that it belongs to");
  return EmitIfLarge(Part::kDetails);
}

void DatasetRenderer::CountStatus(const std::string& status) {
  for (auto& [name, count] : status_counts_) {
    if (name == status) {
      ++count;
      return;
    }
  }
  status_counts_.emplace_back(status, 1);
}

absl::Status DatasetRenderer::EmitIfLarge(Part part) {
  if (Text(part).size() < kLargeText) return absl::OkStatus();
  emitted_[static_cast<size_t>(part)] = true;
  return emit_(part, &Text(part));
}

}  // namespace telemetry::exporter::render
