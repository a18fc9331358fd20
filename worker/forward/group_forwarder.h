#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/sidecar/csv_parser.h"
#include "proto/record/sidecar/measurement_line.h"
#include "worker/forward/attempt_log.h"
#include "worker/forward/growing_file.h"
#include "worker/forward/job_folder.h"
#include "worker/forward/record_lines.h"
#include "worker/forward/run_identity.h"
#include "worker/forward/sidecar_files.h"

namespace telemetry::worker::forward {

// Counters of a forwarding.
struct ForwardCounts {
  uint64_t rows = 0;
  uint64_t attempts = 0;
  uint64_t records = 0;  // records of runs
  uint64_t graphs = 0;
  uint64_t events = 0;        // lines of traces
  uint64_t rejects = 0;       // unreadable rows and records
  uint64_t waiting_rows = 0;  // rows of an unknown run
  uint64_t bytes = 0;         // bytes read
  ForwardCounts& operator+=(const ForwardCounts& other);
};

// Reads the sidecars of one base path, also as they grow, and passes their contents to the sink as records. Reading the
// same content again, in this process or another, yields records that change nothing at the collector. If a file was
// replaced, the forwarder reads the complete group again from the start. A group in a job folder has the origin of its
// writer instead of `origin`. Not thread-safe.
class GroupForwarder {
 public:
  GroupForwarder(SidecarFiles files, std::string origin, IdentityFlags identity, RecordSink sink);

  // Reads and emits the content that was added since the last call. Returns an error of the sink or of reading a file.
  absl::Status Advance();

  // Treats the files as complete: also reads a last line without its end, and stops waiting for content of other files.
  absl::Status Finish();

  // The state of the group in a log rotation.
  enum class Rotation {
    kNone,      // new files have the names of none of the files that were read
    kInPart,    // new files have the names of renamed files, while other files that were read were not renamed
    kComplete,  // all files that were read were renamed, and new files have their names
  };
  Rotation rotation() const;

  const SidecarFiles& files() const { return files_; }
  // Returns the number of bytes of each file's complete lines that were read, by the file's name.
  std::map<std::string, uint64_t> bytes_read() const;
  ForwardCounts counts() const;
  // Returns a message about the rows that are not emitted because their run is unknown, with the remedy. Empty: there
  // are none.
  std::string refusal() const;

 private:
  // A CSV file and its parser.
  struct CsvFile {
    explicit CsvFile(std::string path) : file(std::move(path)) {}
    GrowingFile file;
    record::sidecar::CsvParser csv;
  };
  // A .jsonl file and its parser.
  struct RecordFile {
    RecordFile(std::string path, std::string start) : file(std::move(path)), lines(std::move(start)) {}
    GrowingFile file;
    RecordLines lines;
  };
  // The state of reading the files, created anew when a file was replaced.
  struct Reading;
  enum class Pass { kMoreMayCome, kComplete };

  absl::Status ReadAll(Pass pass);
  absl::Status Replaced();
  // Reads the next bytes of a file and appends the items that they complete. Returns false at the end of the file; if
  // the file is complete, its last bytes are then an item, too.
  template <typename Parser, typename Item>
  absl::StatusOr<bool> ReadItems(GrowingFile& file, Parser& parser, Pass pass, std::vector<Item>* items);
  absl::Status ReadRecords(RecordFile* file, Pass pass, absl::Status (GroupForwarder::*take)(const record::Json&));
  absl::Status ReadSingleRecord(Pass pass);
  absl::Status ReadRows(Pass pass);
  absl::Status ReadSources(Pass pass);
  absl::Status ReadMeasurements(Pass pass);
  absl::Status ReadKernelTuner(Pass pass);
  // Reads the trace up to its end, or until kMostHeldBytes are held. Sets *at_end.
  absl::Status ReadTrace(Pass pass, bool* at_end);
  // Links the lines that were read, and reads on if the files are complete.
  absl::Status LinkTraces(Pass pass, bool trace_at_end);
  absl::Status ReadAllOnce(Pass pass);
  // Begins to track the rows if a file needs it. Returns ABORTED if rows were read without.
  absl::Status TrackRows();

  absl::Status TakeMeta(const record::Json& record);
  absl::Status TakeIr(const record::Json& record);
  absl::Status TakeWrapperIr(const record::Json& record);
  absl::Status TakeGraph(v1::IrGraph graph);
  absl::Status TakeKernelTuner(const std::vector<record::sidecar::MeasurementsLine>& lines);
  absl::Status TakeMeasurementsLine(const record::Json& record);
  absl::Status TakeRow(record::sidecar::Dialect dialect, record::sidecar::Row row);
  absl::Status TakeWaitingRows();

  absl::Status Reject(v1::Reject::Reason reason, const GrowingFile& file, uint64_t line, std::string_view raw,
                      std::string_view message);

  SidecarFiles files_;
  JobFolder job_;  // the folder of the files, which may be no job folder
  std::string origin_;
  IdentityFlags identity_;
  RecordSink sink_;
  std::shared_ptr<Reading> reading_;
  ForwardCounts replaced_counts_;  // counts of the files that were replaced
};

}  // namespace telemetry::worker::forward
