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
#include "proto/record/sidecar/meta_record.h"
#include "proto/record/sidecar/row.h"
#include "telemetry/v1/records.pb.h"
#include "worker/tune/recording/append_file.h"

namespace telemetry::worker::tune::recording {

// Options of a SidecarLog.
struct SidecarLogOptions {
  // The base path of the files. A ".csv" at its end is removed. Missing folders are created.
  std::string base;
  // Called with a notice for the user when the log uses other files than those requested.
  std::function<void(const std::string&)> on_notice;
};

// A writer of the sidecars that pytorch/helion's autotuner writes, in its current layout (FORMATS, dialect helion):
// BASE.csv with a row per event, BASE.meta.jsonl with a record per attempt, and BASE.sources.csv if rows have hashes of
// their source. It also writes BASE.wrapper.jsonl with the wrapper graph of each attempt, which Helion does not have.
// `telemetry-worker forward` sends their contents as the records that a live producer sends.
//
// Any number of processes may write to one base path: each row is one write under a lock of BASE.csv. If another
// process left an unfinished line, the line is ended first. If BASE.csv or BASE.sources.csv has a header of another
// version, the log uses BASE-2.csv and so on, and calls `on_notice`. After an error the files contain nothing of the
// row. When Append returns, the operating system has the rows, but they are not synced to disk. Not thread-safe.
class SidecarLog {
 public:
  // INVALID_ARGUMENT: the base path names a folder. PERMISSION_DENIED, RESOURCE_EXHAUSTED (disk full), UNAVAILABLE:
  // errors of the files.
  static absl::StatusOr<std::unique_ptr<SidecarLog>> Open(SidecarLogOptions options);

  // Appends a row: run_id, timestamp_s, config_id, generation, status, perf_ms, compile_time_s, config_text,
  // source_hash. Returns the errors of Open; the caller may repeat the call.
  absl::Status Append(const record::sidecar::Row& row);
  // Appends a row of an attempt that an earlier process began, without the lines that the files already contain.
  absl::Status AppendMissing(const record::sidecar::Row& row);
  // Appends a run's record.
  absl::Status AppendRecord(const v1::Run& run, const v1::IrGraph* ir_graph,
                            const std::vector<record::sidecar::RecordConfig>& configs);
  // Appends a run's wrapper graph.
  absl::Status AppendWrapperGraph(const v1::Run& run, const v1::IrGraph& graph);

  // Returns the base path of the files: the requested one, or a numbered one.
  const std::string& base() const { return base_; }

 private:
  // The lines of the files, each as often as it occurs.
  using Lines = std::unordered_multiset<std::string>;

  explicit SidecarLog(SidecarLogOptions options) : options_(std::move(options)) {}

  // Appends a line to a JSON lines file; creates the file if it does not exist.
  absl::Status AppendLine(const std::string& path, const std::string& line);
  // Finds and opens the files to write to, and writes missing headers.
  absl::Status Select();
  // Opens the files of this base. Returns false if they have a header of another version.
  absl::StatusOr<bool> TryBase(const std::string& base);
  // Locks the files against other processes until the returned lock is destroyed.
  absl::StatusOr<AppendFile::Lock> LockFiles();
  absl::Status OpenSources();
  // Appends to both files. Either text may be empty.
  absl::Status AppendBoth(std::string_view rows, std::string_view sources);
  absl::Status ReadLines();

  SidecarLogOptions options_;
  std::string base_;
  std::optional<AppendFile> csv_;
  std::optional<AppendFile> sources_;
  std::optional<Lines> lines_;  // of both files, for AppendMissing
};

}  // namespace telemetry::worker::tune::recording
