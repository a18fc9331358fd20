#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/sidecar_record.h"
#include "proto/record/sidecar_row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/record/append_file.h"

namespace telemetry::worker::tune {

struct SidecarLogOptions {
  // The base path of the files; a ".csv" at its end is left out. Folders are made.
  std::string base;
  // Called with what a person should read: that other files than asked for are written.
  std::function<void(const std::string&)> on_notice;
};

// The sidecars that pytorch/helion's autotuner writes, in its current layout (FORMATS, dialect helion): BASE.csv with a
// row per event, BASE.meta.jsonl with a record per attempt, BASE.sources.csv where rows have hashes of their source;
// and, which Helion does not write, BASE.wrapper.jsonl with the wrapper graph of each attempt. What stands in them,
// `telemetry-worker forward` sends as the records that a live producer sends.
//
// Any number of processes may write to one base path: each row is one write under a lock of BASE.csv. An unfinished
// line that somebody left is ended first. Where BASE.csv or BASE.sources.csv has another header than this version
// writes, the files are BASE-2.csv and so on, and `on_notice` says so. After an error nothing of a row stands in the
// files. Rows are with the operating system when Append returns; they are not forced to disk. Not thread-safe.
class SidecarLog {
 public:
  // INVALID_ARGUMENT: the base names a folder. PERMISSION_DENIED, RESOURCE_EXHAUSTED (disk full), UNAVAILABLE: the
  // files.
  static absl::StatusOr<std::unique_ptr<SidecarLog>> Open(SidecarLogOptions options);

  // Adds a row: run_id, timestamp_s, config_id, generation, status, perf_ms, compile_time_s, config_text, source_hash.
  // Errors as Open; the call may be tried again.
  absl::Status Append(const record::SidecarRow& row);
  // The same for a row of an attempt that an earlier process began: what already stands in the files is not added.
  absl::Status AppendMissing(const record::SidecarRow& row);
  // Adds a run's record.
  absl::Status AppendRecord(const v1::Run& run, const v1::IrGraph* ir_graph,
                            const std::vector<record::RecordConfig>& configs);
  // Adds its wrapper graph.
  absl::Status AppendWrapperGraph(const v1::Run& run, const v1::IrGraph& graph);

  // Where the files are: the base that was asked for, or a numbered one.
  const std::string& base() const { return base_; }

 private:
  // Lines that a file holds, each as often as it does.
  using Lines = std::unordered_multiset<std::string>;

  explicit SidecarLog(SidecarLogOptions options) : options_(std::move(options)) {}

  // To a file of JSON lines, made where it is not there.
  absl::Status AppendLine(const std::string& path, const std::string& line);
  // Finds and opens the files to write to, writing headers where they are missing.
  absl::Status Select();
  // True: the files of this base can be written to, and are open.
  absl::StatusOr<bool> TryBase(const std::string& base);
  // Locks the files against other processes until the returned lock is gone.
  absl::StatusOr<AppendFile::Lock> LockFiles();
  absl::Status OpenSources();
  // Either text may be empty.
  absl::Status AppendBoth(std::string_view rows, std::string_view sources);
  absl::Status ReadLines();

  SidecarLogOptions options_;
  std::string base_;
  std::optional<AppendFile> csv_;
  std::optional<AppendFile> sources_;
  std::optional<Lines> lines_;  // of both, for AppendMissing
};

}  // namespace telemetry::worker::tune
