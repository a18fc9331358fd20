#include "worker/forward/trace_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/config_text.h"
#include "worker/forward/trace_link.h"

namespace telemetry::worker::forward {
namespace {

// Limit of the segments that are tried for a trial: the number of nested stages is small.
constexpr size_t kMostSegments = 16;
// Limit of the trials that are tried again when rows arrive.
constexpr size_t kMostUnmatched = 100000;

constexpr char kUnlinkedDialect[] = "helion-trace";

std::optional<int64_t> ToUnixMicros(std::optional<double> seconds) {
  constexpr double kMostSeconds = 9e12;
  if (!seconds.has_value() || std::abs(*seconds) > kMostSeconds) return std::nullopt;
  return std::llround(*seconds * 1e6);
}

std::string UnlinkedId(std::string_view origin, const TraceLines::Item& first) {
  constexpr char kNul = '\0';
  std::string seed = "autotune-telemetry trace 1";
  seed.append(1, kNul).append(origin).append(1, kNul).append(first.text);
  return record::Sha256(seed).substr(0, record::kAttemptIdBytes);
}

// Returns the outcomes of the first trials.
template <typename Trials>
std::vector<TimedOutcome> Outcomes(const Trials& trials) {
  std::vector<TimedOutcome> outcomes;
  for (const auto& trial : trials) {
    outcomes.push_back(trial.outcome);
    if (outcomes.size() == kMostIdentifyingTrials) break;
  }
  return outcomes;
}

}  // namespace

TraceLog::Trace& TraceLog::FindOrAdd(const TraceLines::Item& line) {
  const auto [found, is_new] = by_run_.try_emplace(line.parsed.run_id, traces_.size());
  if (!is_new) return traces_[found->second];
  Trace& trace = traces_.emplace_back();
  trace.unlinked_id = UnlinkedId(origin_, line);
  trace.description.superseded_id = trace.unlinked_id;
  // Otherwise the file has lost the first lines, and this one may belong to a nested stage.
  if (line.parsed.event != "run_start") return trace;
  trace.description.search_algorithm = line.parsed.algorithm;
  trace.description.started_unix_us = ToUnixMicros(line.parsed.timestamp_s);
  return trace;
}

absl::Status TraceLog::Add(const TraceLines::Item& item) {
  ++lines_;
  Trace& trace = FindOrAdd(item);
  const size_t number = by_run_.at(item.parsed.run_id);
  Line line;
  line.event.set_seq(++trace.lines);
  line.event.set_name(item.parsed.event);
  line.event.set_text(item.text);
  const std::optional<int64_t> time_unix_us = ToUnixMicros(item.parsed.timestamp_s);
  if (time_unix_us.has_value()) line.event.set_time_unix_us(*time_unix_us);
  if (item.parsed.trial.has_value() && item.parsed.elapsed_s.has_value()) {
    const record::sidecar::TraceTrial& trial = *item.parsed.trial;
    if (item.parsed.event == "rebenchmark") {
      line.rebenchmark = Rebenchmark{
          .trial = trial,
          .elapsed_s = *item.parsed.elapsed_s,
          .config_text = item.parsed.config.has_value() ? record::sidecar::SortedConfigText(*item.parsed.config) : ""};
    } else {
      AddTrial({.outcome = {.key = KeyOfTrial(trial),
                            .at_s = *item.parsed.elapsed_s,
                            .is_measured = trial.perf_ms.has_value()},
                .is_filtered = trial.status == "filtered",
                .time_unix_us = time_unix_us,
                .perf_ms = trial.perf_ms},
               number);
    }
  }
  if (trace.stage != Stage::kBeginning) {
    RETURN_IF_ERROR(EmitLine(trace, std::move(line)));
  } else {
    const size_t bytes = line.event.SpaceUsedLong();
    trace.held_bytes += bytes;
    held_bytes_ += bytes;
    trace.held.push_back(std::move(line));
  }
  return TakeEnd(item.parsed, number);
}

void TraceLog::AddTrial(Trial trial, size_t number) {
  Trace& trace = traces_[number];
  if (!trace.is_identified) {
    trace.first_trials.push_back(trial);
    if (AreIdentifying(Outcomes(trace.first_trials))) SetIdentified(number);
  }
  if (trace.stage != Stage::kUnlinked) trace.pending.push_back(trial);
}

void TraceLog::SetIdentified(size_t number) {
  if (traces_[number].is_identified) return;
  traces_[number].is_identified = true;
  identified_.push_back(number);
}

absl::Status TraceLog::TakeEnd(const record::sidecar::TraceLine& line, size_t number) {
  if (line.event != "run_end") return absl::OkStatus();
  Trace& trace = traces_[number];
  trace.has_ended = true;
  SetIdentified(number);
  if (line.end_status == "ok") trace.description.state = v1::Attempt::STATE_COMPLETE;
  if (line.end_status == "error") trace.description.state = v1::Attempt::STATE_ABANDONED;
  if (trace.stage == Stage::kUnlinked) return AnnounceUnlinked(trace);
  return trace.stage == Stage::kLinked ? Describe(trace) : absl::OkStatus();
}

absl::Status TraceLog::Link(Files files) {
  const bool has_new_rows = rows_.rows() > rows_tried_;
  rows_tried_ = rows_.rows();
  for (const size_t number : identified_) {
    Trace& trace = traces_[number];
    if (trace.stage == Stage::kLinked || (trace.stage == Stage::kUnlinked && !has_new_rows)) continue;
    const std::optional<size_t> attempt = FindAttempt(trace);
    if (trace.stage == Stage::kUnlinked) {
      if (attempt.has_value() && may_read_again_) return absl::AbortedError("the rows of a trace came later");
    } else if (attempt.has_value()) {
      RETURN_IF_ERROR(LinkTo(*attempt, &trace));
    } else {
      RETURN_IF_ERROR(EmitUnlinked(&trace));
    }
  }
  for (Trace& trace : traces_) {
    if (trace.stage == Stage::kBeginning && files == Files::kComplete) {
      RETURN_IF_ERROR(EmitUnlinked(&trace));
    }
    if (trace.stage != Stage::kLinked) continue;
    if (has_new_rows) {
      std::vector<Trial> tried = std::exchange(trace.unmatched, {});
      for (Trial& trial : tried) {
        ASSIGN_OR_RETURN(const bool placed, Place(trial, trace));
        if (!placed) trace.unmatched.push_back(trial);
      }
    }
    RETURN_IF_ERROR(PlaceTrials(files, &trace));
  }
  return absl::OkStatus();
}

std::optional<size_t> TraceLog::FindAttempt(const Trace& trace) const {
  const auto begin = std::find_if(trace.first_trials.begin(), trace.first_trials.end(),
                                  [](const Trial& trial) { return !trial.is_filtered; });
  if (begin == trace.first_trials.end()) return std::nullopt;
  // Rows are missing while the CSV is being copied, or if it is damaged.
  for (const Trial& trial : trace.first_trials) {
    if (!trial.is_filtered && !rows_.Contains(trial.outcome.key)) return std::nullopt;
  }
  const TimedOutcome& first = begin->outcome;
  const std::vector<size_t> candidates =
      rows_.Beginnings(first.key, first.at_s + RowIndex::kToleranceS, /*same_run_as=*/std::nullopt);
  if (candidates.empty()) return std::nullopt;
  return ChooseAttempt(Outcomes(trace.first_trials), first, candidates, rows_);
}

absl::Status TraceLog::LinkTo(size_t attempt, Trace* trace) {
  const auto first = std::find_if(trace->first_trials.begin(), trace->first_trials.end(),
                                  [](const Trial& trial) { return !trial.is_filtered; });
  rows_.Claim(attempt);
  trace->stage = Stage::kLinked;
  trace->segments.push_back(
      {.attempt = attempt, .offset_s = first->outcome.at_s - rows_.FirstRows(attempt).front().at_s});
  RETURN_IF_ERROR(Describe(*trace));
  return EmitHeld(trace);
}

absl::Status TraceLog::PlaceTrials(Files files, Trace* trace) {
  while (!trace->pending.empty()) {
    ASSIGN_OR_RETURN(bool placed, Place(trace->pending.front(), *trace));
    if (!placed) {
      bool waits = false;
      ASSIGN_OR_RETURN(placed, BeginSegment(files, trace, &waits));
      if (waits) return absl::OkStatus();
    }
    if (!placed && trace->unmatched.size() < kMostUnmatched) {
      trace->unmatched.push_back(trace->pending.front());
    }
    trace->pending.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TraceLog::Place(const Trial& trial, const Trace& trace) {
  const size_t oldest = trace.segments.size() - std::min(trace.segments.size(), kMostSegments);
  for (size_t i = trace.segments.size(); i-- > oldest;) {
    const auto& [attempt, offset_s] = trace.segments[i];
    const std::optional<uint64_t> seq = rows_.Take(attempt, trial.outcome.key, trial.outcome.at_s - offset_s);
    if (!seq.has_value()) continue;
    RETURN_IF_ERROR(EmitDetail(attempt, *seq, trial));
    return true;
  }
  return false;
}

absl::StatusOr<bool> TraceLog::BeginSegment(Files files, Trace* trace, bool* waits) {
  const TimedOutcome& first = trace->pending.front().outcome;
  const std::vector<size_t> candidates =
      rows_.Beginnings(first.key, first.at_s + RowIndex::kToleranceS, trace->segments.front().attempt);
  if (candidates.empty()) return false;
  const std::vector<TimedOutcome> trials = Outcomes(trace->pending);
  if (!AreIdentifying(trials) && !trace->has_ended) {
    *waits = files == Files::kMoreMayCome;
    return false;
  }
  const size_t attempt = ChooseAttempt(trials, first, candidates, rows_);
  const double offset_s = first.at_s - rows_.FirstRows(attempt).front().at_s;
  // A stage has a clock of its own. An attempt with the clock of the stage before is a part of it that the splitter cut
  // off; the place of the cut depends on rows of other processes.
  const bool has_new_clock = offset_s > trace->segments.back().offset_s + 2 * RowIndex::kToleranceS;
  // Other processes may have equal outcomes, but not equal times.
  const bool has_measured =
      std::any_of(trials.begin(), trials.end(), [](const TimedOutcome& trial) { return trial.is_measured; });
  if (!has_new_clock || !has_measured || CountFound(trials, first, rows_.FirstRows(attempt)) == 0) return false;
  rows_.Claim(attempt);
  trace->segments.push_back({.attempt = attempt, .offset_s = first.at_s - rows_.FirstRows(attempt).front().at_s});
  return Place(trace->pending.front(), *trace);
}

absl::Status TraceLog::EmitUnlinked(Trace* trace) {
  trace->stage = Stage::kUnlinked;
  trace->pending.clear();
  RETURN_IF_ERROR(AnnounceUnlinked(*trace));
  return EmitHeld(trace);
}

absl::Status TraceLog::AnnounceUnlinked(const Trace& trace) {
  v1::Record record;
  v1::Attempt& attempt = *record.mutable_attempt();
  attempt.set_attempt_id(trace.unlinked_id);
  attempt.set_run_id(record::UnknownRunId(trace.unlinked_id));
  attempt.set_origin(origin_);
  attempt.set_dialect(kUnlinkedDialect);
  attempt.set_provisional(true);
  trace.description.SetFields(&attempt);
  return sink_(record);
}

absl::Status TraceLog::Describe(const Trace& trace) {
  return attempts_.Describe(trace.segments.front().attempt, trace.description);
}

absl::Status TraceLog::EmitHeld(Trace* trace) {
  held_bytes_ -= std::exchange(trace->held_bytes, 0);
  for (Line& line : std::exchange(trace->held, {})) {
    RETURN_IF_ERROR(EmitLine(*trace, std::move(line)));
  }
  return absl::OkStatus();
}

absl::Status TraceLog::EmitLine(const Trace& trace, Line line) {
  if (line.rebenchmark.has_value() && trace.stage == Stage::kLinked) {
    RETURN_IF_ERROR(EmitRebenchmark(trace, line.event, *line.rebenchmark));
  }
  v1::Record record;
  *record.mutable_attempt_event() = std::move(line.event);
  if (trace.stage == Stage::kLinked) return attempts_.Emit(trace.segments.front().attempt, std::move(record));
  record.mutable_attempt_event()->set_attempt_id(trace.unlinked_id);
  return sink_(record);
}

absl::Status TraceLog::EmitRebenchmark(const Trace& trace, const v1::AttemptEvent& event,
                                       const Rebenchmark& rebenchmark) {
  const auto& [attempt, offset_s] = trace.segments.front();
  if (!rebenchmark.config_text.empty()) {
    RETURN_IF_ERROR(runs_.AddConfig(rebenchmark.trial.config_id, rebenchmark.config_text));
  }
  v1::Record record;
  v1::Measurement& row = *record.mutable_measurement();
  row.set_seq(record::sidecar::kFirstTraceSeq + event.seq());
  row.set_timestamp_s(rebenchmark.elapsed_s - offset_s);
  row.set_generation(rebenchmark.trial.generation);
  row.set_status(rebenchmark.trial.status);
  if (rebenchmark.trial.perf_ms.has_value()) row.set_perf_ms(*rebenchmark.trial.perf_ms);
  if (rebenchmark.trial.compile_time_s.has_value()) row.set_compile_time_s(*rebenchmark.trial.compile_time_s);
  row.set_config_id(rebenchmark.trial.config_id);
  const uint64_t seq = row.seq();
  RETURN_IF_ERROR(attempts_.Emit(attempt, std::move(record)));

  v1::Record beside;
  v1::MeasurementDetail& detail = *beside.mutable_measurement_detail();
  detail.set_seq(seq);
  detail.set_stage(v1::MeasurementDetail::STAGE_REBENCHMARK);
  if (event.has_time_unix_us()) detail.set_time_unix_us(event.time_unix_us());
  return attempts_.Emit(attempt, std::move(beside));
}

absl::Status TraceLog::EmitDetail(size_t attempt, uint64_t seq, const Trial& trial) {
  v1::Record record;
  v1::MeasurementDetail& detail = *record.mutable_measurement_detail();
  detail.set_seq(seq);
  if (trial.time_unix_us.has_value()) detail.set_time_unix_us(*trial.time_unix_us);
  if (trial.perf_ms.has_value()) detail.set_exact_perf_ms(*trial.perf_ms);
  return attempts_.Emit(attempt, std::move(record));
}

}  // namespace telemetry::worker::forward
