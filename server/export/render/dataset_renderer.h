#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "server/export/render/attempt_line.h"
#include "server/export/render/config_formatter.h"
#include "server/export/render/config_table.h"
#include "server/export/render/dataset_counts.h"
#include "server/export/render/kernel_tuner_text.h"
#include "server/export/render/layout.h"
#include "server/export/render/run_columns.h"
#include "server/export/render/run_record.h"
#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter::render {

// A renderer that converts a dataset, item by item in the order of dataset.proto, to the text of an export's parts. It
// uses neither files nor a data source. A database and a collector yield equal bytes because both are rendered here.
// Not thread-safe.
class DatasetRenderer {
 public:
  // Receives a piece of a part's text, in order, and leaves an empty string in its place. The pieces are large. A part
  // that is always written is emitted at least once.
  using Emit = std::function<absl::Status(Part part, std::string* text)>;

  // With with_details, the part kDetails is also written.
  DatasetRenderer(Layout layout, Emit emit, bool with_details = false);

  // Adds the next item. Errors: INVALID_ARGUMENT if the layout cannot represent this dataset (the message contains the
  // remedy), DATA_LOSS if the items violate their order, else the error of Emit. IR graphs of an unknown kind are only
  // counted.
  absl::Status Add(const v1::ExportItem& item);

  // Emits the remaining text. Must be called after the last item.
  absl::Status Finish();

  const DatasetCounts& counts() const { return counts_; }

 private:
  // The run of the current items.
  struct CurrentRun {
    CurrentRun(Layout layout, const v1::Run& run) : columns(run), record(layout) {}
    RunColumns columns;
    RunRecord record;
  };
  // The attempt of the current items.
  struct CurrentAttempt {
    v1::AttemptSummary summary;
    std::string attempt_id;  // hex digits
    AttemptRows exported;
  };
  // The config of the previous row. Rows of one config follow one another.
  struct CurrentConfig {
    uint64_t config_id = 0;
    std::string_view text;
    std::string_view field;
    const RunColumns::OfConfig* columns = nullptr;
  };

  absl::Status BeginRun(const v1::RunSummary& summary);
  absl::Status EndRun();
  // Writes the records of a run_id, one for each distinct description by its senders.
  absl::Status FlushRecords();
  absl::Status AppendRecord(const std::string& record);
  absl::Status AddGraph(const v1::IrGraph& graph);
  absl::Status AddRunConfigs(const v1::ExportRunConfigs& run_configs);
  absl::Status BeginAttempt(const v1::AttemptSummary& summary);
  absl::Status EndAttempt();
  absl::Status AddRows(const v1::ExportRows& rows);
  absl::Status AddEvents(const v1::ExportEvents& events);
  // Returns whether the layout's .csv leaves out the row, which was only in the trace of a sidecar.
  bool IsOnlyInTrace(const v1::Measurement& row) const;
  absl::Status SelectConfig(const v1::Measurement& row);
  void AppendRow(const v1::Measurement& row, std::string_view source_hash);
  void CountRow(const v1::Measurement& row);
  absl::Status AddKernelTunerRows(const v1::ExportRows& rows);
  absl::Status FinishKernelTuner();
  void AppendSidecarRow(record::sidecar::Dialect dialect, const v1::Measurement& row);
  absl::Status AppendSourceHashes(const v1::ExportRows& rows);
  // Appends a line for each row that has a detail or a failure.
  absl::Status AppendDetails(const v1::ExportRows& rows);
  void CountStatus(const std::string& status);

  bool IsDue(Part part) const;
  std::string& Text(Part part) { return texts_[static_cast<size_t>(part)]; }
  absl::Status EmitIfLarge(Part part);

  const Layout layout_;
  const std::optional<record::sidecar::Dialect> dialect_;
  const bool with_details_;
  const bool has_config_columns_;  // the rows have a sample_id or a decorator
  const Emit emit_;
  std::array<std::string, kPartCount> texts_;
  std::array<bool, kPartCount> emitted_{};
  ConfigTable configs_;
  ConfigFormatter config_formatter_;
  std::optional<KernelTunerText> kernel_tuner_;  // unset: another layout
  std::optional<CurrentRun> run_;
  std::vector<RecordParts> records_;                 // records of the current run_id
  absl::flat_hash_set<std::string> graphs_written_;  // hashes of the lines of the current run_id's graphs
  std::optional<CurrentAttempt> attempt_;
  CurrentConfig config_;
  DatasetCounts counts_;
  std::vector<std::pair<std::string, uint64_t>> status_counts_;  // few elements; searched linearly
};

}  // namespace telemetry::exporter::render
