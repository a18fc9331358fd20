#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_log.h"
#include "worker/forward/row_index.h"
#include "worker/forward/run_log.h"
#include "worker/forward/trace_lines.h"

namespace telemetry::worker::forward {

// A converter from the lines of one .trace.jsonl file, in file order, to events, details of rows, and measurements of
// rebenchmarks. Links each trace (the lines with one run_id) to the attempts of the CSV beside it by content; README.md
// describes the rule. Lines are held until their trace is linked, or is to be stored as an attempt of an unknown run.
// Not thread-safe.
class TraceLog {
 public:
  // The objects must outlive this one. `rows` contains the rows of `attempts`.
  TraceLog(std::string origin, RecordSink sink, AttemptLog* attempts, RunLog* runs, RowIndex* rows)
      : origin_(std::move(origin)), sink_(std::move(sink)), attempts_(*attempts), runs_(*runs), rows_(*rows) {}

  // Adds a line. All rows that were written before it must be added before the next call of Link().
  absl::Status Add(const TraceLines::Item& line);

  enum class Files { kMoreMayCome, kComplete };
  // Links the traces that can be identified, and emits their lines. Emits other traces as attempts of an unknown run if
  // the files are complete, or if no row can identify them. Returns ABORTED if such a trace can be linked now: read all
  // files again.
  absl::Status Link(Files files);

  // Lets Link() leave a trace as an attempt of an unknown run instead of returning ABORTED.
  void NeverReadAgain() { may_read_again_ = false; }

  // Returns the approximate memory of the lines that are held.
  size_t held_bytes() const { return held_bytes_; }
  uint64_t lines() const { return lines_; }

 private:
  // A trial that is to be assigned to a row.
  struct Trial {
    TimedOutcome outcome;
    bool is_filtered = false;  // it may have no row
    std::optional<int64_t> time_unix_us;
    std::optional<double> perf_ms;
  };
  // A later timing of a config, with the seconds since the trace began.
  struct Rebenchmark {
    record::sidecar::TraceTrial trial;
    double elapsed_s = 0;
    std::string config_text;  // empty: not known
  };
  struct Line {
    v1::AttemptEvent event;
    std::optional<Rebenchmark> rebenchmark;
  };
  // An attempt of the CSV and the difference between the trace's time and the attempt's.
  struct Segment {
    size_t attempt = 0;
    double offset_s = 0;
  };
  enum class Stage {
    kBeginning,  // its lines are held
    kUnlinked,   // its lines are emitted as an attempt of an unknown run
    kLinked,     // its lines are emitted as events of the first segment's attempt
  };
  struct Trace {
    std::string unlinked_id;  // attempt_id of the attempt that it is stored as without a link
    AttemptDescription description;
    Stage stage = Stage::kBeginning;
    uint64_t lines = 0;
    bool has_ended = false;
    std::vector<Trial> first_trials;  // those that identify the trace
    bool is_identified = false;       // first_trials is complete
    std::deque<Trial> pending;        // trials that follow the last one that was tried; of a linked trace
    std::vector<Trial> unmatched;     // trials without a row so far
    std::vector<Segment> segments;
    std::vector<Line> held;
    size_t held_bytes = 0;
  };

  Trace& FindOrAdd(const TraceLines::Item& line);
  void AddTrial(Trial trial, size_t number);
  void SetIdentified(size_t number);
  absl::Status TakeEnd(const record::sidecar::TraceLine& line, size_t number);

  // Returns the attempt to which an identified trace belongs, or nullopt if there is none.
  std::optional<size_t> FindAttempt(const Trace& trace) const;
  absl::Status LinkTo(size_t attempt, Trace* trace);
  // Assigns the trials of a linked trace to rows, as far as its content decides it.
  absl::Status PlaceTrials(Files files, Trace* trace);
  // Assigns a trial to a row of the trace's segments; returns false if there is none.
  absl::StatusOr<bool> Place(const Trial& trial, const Trace& trace);
  // Begins a nested stage with the first pending trial if the trial is the first row of an attempt. Sets *waits if only
  // later trials can decide that.
  absl::StatusOr<bool> BeginSegment(Files files, Trace* trace, bool* waits);

  absl::Status EmitUnlinked(Trace* trace);
  absl::Status AnnounceUnlinked(const Trace& trace);
  absl::Status Describe(const Trace& trace);
  absl::Status EmitHeld(Trace* trace);
  absl::Status EmitLine(const Trace& trace, Line line);
  absl::Status EmitRebenchmark(const Trace& trace, const v1::AttemptEvent& event, const Rebenchmark& rebenchmark);
  absl::Status EmitDetail(size_t attempt, uint64_t seq, const Trial& trial);

  std::string origin_;
  RecordSink sink_;
  AttemptLog& attempts_;
  RunLog& runs_;
  RowIndex& rows_;
  std::deque<Trace> traces_;                         // in the order of their first lines
  absl::flat_hash_map<std::string, size_t> by_run_;  // positions in traces_
  std::vector<size_t> identified_;                   // positions in traces_, in the order of the identifying lines
  uint64_t rows_tried_ = 0;                          // rows when the trials without a row were last tried
  size_t held_bytes_ = 0;
  uint64_t lines_ = 0;
  bool may_read_again_ = true;
};

}  // namespace telemetry::worker::forward
