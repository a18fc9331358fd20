#include "worker/snapshot/snapshot_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/python_literal.h"
#include "proto/record/sidecar/csv_fields.h"
#include "proto/record/sidecar/measurement_line.h"
#include "proto/record/strings.h"
#include "worker/snapshot/lines.h"

namespace telemetry::worker::snapshot {
namespace {

using record::Cat;
using record::Json;
using TakeItem = std::function<absl::Status(const v1::ExportItem&)>;

constexpr int kRowsPerItem = 1000;

// The columns of BASE.csv that are read.
enum Column { kAttemptId, kSeq, kTimestamp, kGeneration, kStatus, kPerf, kCompile, kConfigId, kConfig };
constexpr std::array<std::string_view, 9> kColumns = {
    "attempt_id", "seq", "timestamp_s", "generation", "status", "perf_ms", "compile_time_s", "config_id", "config"};

std::optional<std::string> TextOf(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && value->kind == Json::Kind::kString ? std::optional(value->text) : std::nullopt;
}

std::optional<std::string> ObjectOf(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && value->kind == Json::Kind::kObject ? std::optional(record::ToJson(*value)) : std::nullopt;
}

v1::Run RunOf(const Json& line) {
  v1::Run run;
  const auto set = [&](const char* key, std::string* (v1::Run::*field)()) {
    if (std::optional<std::string> text = TextOf(line, key)) *(run.*field)() = *std::move(text);
  };
  run.set_run_id(TextOf(line, "run_id").value_or(""));
  set("kernel_id", &v1::Run::mutable_kernel_id);
  set("kernel_name", &v1::Run::mutable_kernel_name);
  set("kernel_source", &v1::Run::mutable_kernel_source);
  set("input_shapes", &v1::Run::mutable_input_shapes);
  set("dtypes", &v1::Run::mutable_dtypes);
  set("hardware", &v1::Run::mutable_hardware);
  set("settings_signature", &v1::Run::mutable_settings_signature);
  if (auto settings = ObjectOf(line, "settings")) run.set_settings_json(*std::move(settings));
  if (auto extra = ObjectOf(line, "extra")) run.set_extra_json(*std::move(extra));
  return run;
}

v1::Attempt::State StateOf(const std::string& name) {
  if (name == "open") return v1::Attempt::STATE_OPEN;
  if (name == "complete") return v1::Attempt::STATE_COMPLETE;
  return name == "abandoned" ? v1::Attempt::STATE_ABANDONED : v1::Attempt::STATE_UNSPECIFIED;
}

absl::StatusOr<v1::Attempt> AttemptOf(const Json& line, const Lines& lines) {
  v1::Attempt attempt;
  const absl::StatusOr<std::string> id = record::HexDecode(TextOf(line, "attempt_id").value_or(""));
  if (!id.ok() || id->size() != record::kAttemptIdBytes) return lines.Wrong("attempt_id is not 32 hex digits");
  attempt.set_attempt_id(*id);
  attempt.set_run_id(TextOf(line, "run_id").value_or(""));
  attempt.set_origin(TextOf(line, "origin").value_or(""));
  attempt.set_dialect(TextOf(line, "dialect").value_or(""));
  attempt.set_state(StateOf(TextOf(line, "state").value_or("")));
  if (const auto started = TextOf(line, "started")) {
    absl::Time time;
    if (!absl::ParseTime(absl::RFC3339_full, *started, &time, nullptr)) return lines.Wrong("started is not a time");
    attempt.set_started_unix_us(absl::ToUnixMicros(time));
  }
  if (auto algorithm = TextOf(line, "search_algorithm")) attempt.set_search_algorithm(*std::move(algorithm));
  if (auto environment = ObjectOf(line, "environment")) attempt.set_environment_json(*std::move(environment));
  if (auto counters = ObjectOf(line, "counters")) attempt.set_counters_json(*std::move(counters));
  return attempt;
}

// Returns the text of a config from its field, which is a JSON object of the config's arguments, or a JSON string with
// another text.
absl::StatusOr<std::string> ConfigTextOf(const std::string& field) {
  ASSIGN_OR_RETURN(const Json json, record::ParseJson(field));
  return json.kind == Json::Kind::kString ? json.text : record::FormatConfig(json);
}

// Reads the rows of BASE.csv.
class Rows {
 public:
  static absl::StatusOr<Rows> Open(const std::string& path) {
    ASSIGN_OR_RETURN(Lines lines, Lines::Open(path));
    Rows rows(std::move(lines));
    RETURN_IF_ERROR(rows.ReadHeader());
    RETURN_IF_ERROR(rows.Advance());
    return rows;
  }

  // The next row; nullptr at the end of the file.
  const v1::Measurement* next() const { return next_.has_value() ? &*next_ : nullptr; }
  // The config of the next row, if no earlier row has it; else nullptr.
  const v1::Config* new_config() const { return new_config_.has_value() ? &*new_config_ : nullptr; }

  absl::Status Advance() {
    next_.reset();
    new_config_.reset();
    std::vector<std::string> fields;
    ASSIGN_OR_RETURN(const bool found, lines_.NextFields(width_, &fields));
    if (!found) return absl::OkStatus();
    const auto field = [&](Column column) -> const std::string& { return fields[position_[column]]; };
    const absl::StatusOr<std::string> attempt = record::HexDecode(field(kAttemptId));
    const std::optional<uint64_t> seq = record::ParseUint64(field(kSeq));
    const absl::StatusOr<uint64_t> config = record::ParseConfigId(field(kConfigId));
    if (!attempt.ok() || !seq.has_value() || !config.ok()) return lines_.Wrong("attempt_id, seq or config_id is wrong");
    v1::Measurement row;
    row.set_attempt_id(*attempt);
    row.set_seq(*seq);
    row.set_config_id(*config);
    row.set_status(field(kStatus));
    row.set_timestamp_s(record::ParseDecimal(field(kTimestamp)).value_or(0));
    row.set_generation(record::ParseInt64(field(kGeneration)).value_or(0));
    if (const auto ms = record::ParseDecimal(field(kPerf))) row.set_perf_ms(*ms);
    if (const auto seconds = record::ParseDecimal(field(kCompile))) row.set_compile_time_s(*seconds);
    next_ = std::move(row);
    return TakeConfig(*config, field(kConfig));
  }

  absl::Status Wrong(std::string_view why) const { return lines_.Wrong(why); }

 private:
  explicit Rows(Lines lines) : lines_(std::move(lines)) {}

  absl::Status TakeConfig(uint64_t id, const std::string& field) {
    if (field.empty() || !configs_.insert(id).second) return absl::OkStatus();
    absl::StatusOr<std::string> text = ConfigTextOf(field);
    if (!text.ok()) return lines_.Wrong(Cat("config: ", std::string(text.status().message())));
    new_config_.emplace().set_config_id(id);
    new_config_->set_text(*std::move(text));
    return absl::OkStatus();
  }

  absl::Status ReadHeader() {
    std::string header;
    lines_.Next(&header);
    const record::sidecar::CsvFields read =
        record::sidecar::SplitCsv(record::WithoutSuffix(header, "\r"), kMostColumns);
    width_ = read.fields.size();
    for (size_t i = 0; i < kColumns.size(); ++i) {
      const auto found = std::find(read.fields.begin(), read.fields.end(), kColumns[i]);
      if (found == read.fields.end()) {
        return lines_.Wrong(Cat("has no column ", kColumns[i], "; export with --layout keyed"));
      }
      position_[i] = static_cast<size_t>(found - read.fields.begin());
    }
    return absl::OkStatus();
  }

  static constexpr size_t kMostColumns = 100;

  Lines lines_;
  size_t width_ = 0;
  std::array<size_t, kColumns.size()> position_ = {};
  std::optional<v1::Measurement> next_;
  std::optional<v1::Config> new_config_;
  std::unordered_set<uint64_t> configs_;  // ids of all configs so far
};

// Reads the lines of BASE.details.jsonl, which have the order of the rows.
class Details {
 public:
  // A snapshot without details has no such file.
  static absl::StatusOr<Details> Open(const std::string& path) {
    absl::StatusOr<Lines> lines = Lines::Open(path);
    Details details;
    if (lines.ok()) details.lines_.emplace(*std::move(lines));
    RETURN_IF_ERROR(details.Advance());
    return details;
  }

  // Moves the detail of a row into `rows`, if the row has one.
  absl::Status TakeOf(const v1::Measurement& row, v1::ExportRows* rows) {
    if (!next_.has_value() || next_->attempt_id() != row.attempt_id() || next_->seq() != row.seq()) {
      return absl::OkStatus();
    }
    v1::MeasurementDetail& detail = *rows->add_details();
    detail = *std::move(next_);
    detail.clear_attempt_id();
    return Advance();
  }

  // Returns an error if a detail is left, which belongs to no row.
  absl::Status CheckEnd() const {
    return next_.has_value() ? lines_->Wrong("is not of a row of the .csv, or not in its order") : absl::OkStatus();
  }

 private:
  absl::Status Advance() {
    next_.reset();
    if (!lines_.has_value()) return absl::OkStatus();
    Json line;
    ASSIGN_OR_RETURN(const bool found, lines_->NextJson(&line));
    if (!found) return absl::OkStatus();
    absl::StatusOr<v1::MeasurementDetail> detail = record::sidecar::ParseDetail(line);
    if (!detail.ok()) return lines_->Wrong(std::string(detail.status().message()));
    const absl::StatusOr<std::string> attempt = record::HexDecode(TextOf(line, "attempt_id").value_or(""));
    const Json* const seq = line.Find("seq");
    const std::optional<uint64_t> number = seq == nullptr ? std::nullopt : record::ParseUint64(seq->text);
    if (!attempt.ok() || !number.has_value()) return lines_->Wrong("attempt_id or seq is wrong");
    detail->set_attempt_id(*attempt);
    detail->set_seq(*number);
    next_ = *std::move(detail);
    return absl::OkStatus();
  }

  std::optional<Lines> lines_;  // unset: there is no file
  std::optional<v1::MeasurementDetail> next_;
};

absl::StatusOr<std::map<std::string, v1::Run>> ReadRuns(const std::string& path) {
  ASSIGN_OR_RETURN(Lines lines, Lines::Open(path));
  std::map<std::string, v1::Run> runs;
  while (true) {
    Json line;
    ASSIGN_OR_RETURN(const bool found, lines.NextJson(&line));
    if (!found) return runs;
    v1::Run run = RunOf(line);
    std::string id = run.run_id();
    runs.emplace(std::move(id), std::move(run));
  }
}

// Passes on the rows of an attempt, which are the next ones, and before them their configs.
absl::Status TakeRows(const std::string& attempt_id, Rows& rows, Details& details, const TakeItem& take) {
  v1::ExportItem item;
  v1::ExportItem configs;
  const auto flush = [&] {
    absl::Status status = configs.configs().configs().empty() ? absl::OkStatus() : take(configs);
    if (status.ok() && !item.rows().measurements().empty()) status = take(item);
    configs.Clear();
    item.Clear();
    return status;
  };
  while (rows.next() != nullptr && rows.next()->attempt_id() == attempt_id) {
    RETURN_IF_ERROR(details.TakeOf(*rows.next(), item.mutable_rows()));
    v1::Measurement& row = *item.mutable_rows()->add_measurements();
    row = *rows.next();
    row.clear_attempt_id();
    if (rows.new_config() != nullptr) *configs.mutable_configs()->add_configs() = *rows.new_config();
    RETURN_IF_ERROR(rows.Advance());
    if (item.rows().measurements_size() == kRowsPerItem) RETURN_IF_ERROR(flush());
  }
  return flush();
}

}  // namespace

absl::Status ReadSnapshot(const std::string& base, const TakeItem& take) {
  ASSIGN_OR_RETURN(const auto runs, ReadRuns(base + ".runs.jsonl"));
  ASSIGN_OR_RETURN(Lines attempts, Lines::Open(base + ".attempts.jsonl"));
  ASSIGN_OR_RETURN(Rows rows, Rows::Open(base + ".csv"));
  ASSIGN_OR_RETURN(Details details, Details::Open(base + ".details.jsonl"));
  std::string run_id;
  while (true) {
    Json line;
    ASSIGN_OR_RETURN(const bool found, attempts.NextJson(&line));
    if (!found) break;
    v1::ExportItem item;
    ASSIGN_OR_RETURN(*item.mutable_attempt()->mutable_attempt(), AttemptOf(line, attempts));
    const v1::Attempt& attempt = item.attempt().attempt();
    if (attempt.run_id() != run_id) {
      run_id = attempt.run_id();
      const auto run = runs.find(run_id);
      if (run == runs.end()) return attempts.Wrong("the .runs.jsonl has no line of the run");
      v1::ExportItem of_run;
      *of_run.mutable_run()->mutable_run() = run->second;
      RETURN_IF_ERROR(take(of_run));
    }
    RETURN_IF_ERROR(take(item));
    RETURN_IF_ERROR(TakeRows(attempt.attempt_id(), rows, details, take));
  }
  if (rows.next() != nullptr) return rows.Wrong("is not of the next attempt of the .attempts.jsonl");
  return details.CheckEnd();
}

}  // namespace telemetry::worker::snapshot
