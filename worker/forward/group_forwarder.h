#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/record/sidecar_csv.h"
#include "proto/record/sidecar_record.h"
#include "worker/forward/attempt_log.h"
#include "worker/forward/growing_file.h"
#include "worker/forward/record_lines.h"
#include "worker/forward/run_identity.h"
#include "worker/forward/sidecar_files.h"

namespace telemetry::forward {

struct ForwardCounts {
  uint64_t rows = 0;
  uint64_t attempts = 0;
  uint64_t records = 0;  // of runs
  uint64_t graphs = 0;
  uint64_t rejects = 0;       // rows and records that could not be read
  uint64_t waiting_rows = 0;  // rows whose run is not known
  uint64_t bytes = 0;         // read
  ForwardCounts& operator+=(const ForwardCounts& other);
};

// Reads the sidecars of one base path, now and as they grow, and hands what they say to the sink as records of the
// wire. Reading the same content again, in this process or another, gives records that change nothing at the collector.
// A file that was replaced makes the whole group be read again from the start. Not thread-safe.
class GroupForwarder {
 public:
  GroupForwarder(SidecarFiles files, std::string origin, IdentityFlags identity, RecordSink sink);

  // Reads and hands over what has come since the last call. An error is the sink's, or a file cannot be read.
  absl::Status Advance();

  // The files will not change any more: also reads what waits for the end of its line, and gives up on what waits for
  // another file.
  absl::Status Finish();

  const SidecarFiles& files() const { return files_; }
  ForwardCounts counts() const;
  // Says which rows are not handed over, since their run is not known, and what the user can do about it. Empty: none.
  std::string refusal() const;

 private:
  struct CsvFile {
    explicit CsvFile(std::string path) : file(std::move(path)) {}
    GrowingFile file;
    record::SidecarCsv csv;
  };
  struct RecordFile {
    RecordFile(std::string path, std::string start) : file(std::move(path)), lines(std::move(start)) {}
    GrowingFile file;
    RecordLines lines;
  };
  // All that was learnt from the files; made anew when one of them was replaced.
  struct Reading;
  enum class Pass { kMoreMayCome, kComplete };

  absl::Status ReadAll(Pass pass);
  absl::Status Replaced();
  absl::Status ReadRecords(RecordFile* file, Pass pass, absl::Status (GroupForwarder::*take)(const record::Json&));
  absl::Status ReadSingleRecord(Pass pass);
  absl::Status ReadRows(Pass pass);
  absl::Status ReadSources(Pass pass);

  absl::Status TakeMeta(const record::Json& record);
  absl::Status TakeIr(const record::Json& record);
  absl::Status TakeWrapperIr(const record::Json& record);
  absl::Status TakeGraph(v1::IrGraph graph);
  absl::Status TakeRow(record::Dialect dialect, record::SidecarRow row);
  absl::Status TakeWaitingRows();

  absl::Status Reject(v1::Reject::Reason reason, const GrowingFile& file, uint64_t line, std::string_view raw,
                      std::string_view message);

  SidecarFiles files_;
  std::string origin_;
  IdentityFlags identity_;
  RecordSink sink_;
  std::shared_ptr<Reading> reading_;
  ForwardCounts replaced_counts_;  // of files that are no longer there
};

}  // namespace telemetry::forward
