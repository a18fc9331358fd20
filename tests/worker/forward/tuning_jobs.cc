#include "tests/worker/forward/tuning_jobs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/row.h"
#include "proto/record/sidecar/trace_line.h"

namespace telemetry::worker::forward {
namespace {

constexpr double kUnixStart = 1.75e9;
constexpr double kCompileTimeS = 0.1234567;
// Times between two steps of a process, and between a row and its trace line.
constexpr double kStepS = 0.011;
constexpr double kBehindS = 0.0004;

std::string ConfigJson(int config) { return absl::StrCat("{\"n\": ", config, "}"); }

std::string ConfigDigits(int config) {
  return record::FormatConfigId(record::ConfigId(*record::ParseJson(ConfigJson(config))));
}

}  // namespace

std::string TuningRunId() { return std::string(64, 'a'); }

std::string TuningCsvHeader() {
  return std::string(record::sidecar::DialectHeader(record::sidecar::Dialect::kHelion)) + "\r\n";
}

TuningProcess::TuningProcess(size_t number, double start_s)
    : number_(number),
      trace_id_(absl::StrFormat("%032x", number + 1)),
      start_s_(start_s),
      csv_start_s_(start_s + 1),
      now_s_(start_s) {
  AddTrace("run_start", "");
  AddTrace("stage_start", "");
  now_s_ = csv_start_s_ + kStepS;
}

void TuningProcess::AddTrace(const std::string& name, const std::string& members) {
  const double elapsed_s = now_s_ - start_s_;
  writes_.push_back(
      {.at_s = now_s_,
       .process = number_,
       .is_trace = true,
       .text = absl::StrCat("{\"schema_version\": 1, \"run_id\": \"", trace_id_, "\", \"event\": \"", name,
                            "\", \"algorithm\": \"Search\", \"timestamp\": \"2026\", \"timestamp_s\": ",
                            record::FloatRepr(kUnixStart + now_s_), ", \"elapsed_s\": ", record::FloatRepr(elapsed_s),
                            ", \"best_perf_ms\": null, \"best_objective\": null", members, "}\n")});
}

std::string TuningProcess::Members(int config, const std::string& status, std::optional<double> perf_ms,
                                   bool is_trial) const {
  return absl::StrCat(", \"trial_index\": ", is_trial ? "1" : "null", ", \"config_id\": \"", ConfigDigits(config),
                      "\", \"config\": ", ConfigJson(config), ", \"generation\": ", generation_, ", \"status\": \"",
                      status, "\", \"perf_ms\": ", perf_ms.has_value() ? record::FloatRepr(*perf_ms) : "null",
                      ", \"objective\": null, \"objective_unit\": \"ms\", \"compile_time_s\": ",
                      record::FloatRepr(kCompileTimeS), ", \"source_hash\": null");
}

void TuningProcess::AddRow(int config, const std::string& status, std::optional<double> perf_ms) {
  record::sidecar::Row row;
  row.run_id = TuningRunId();
  row.timestamp_s = now_s_ - csv_start_s_;
  row.config_id = record::ParseConfigId(ConfigDigits(config)).value();
  row.generation = generation_;
  row.status = status;
  row.perf_ms = perf_ms;
  row.compile_time_s = kCompileTimeS;
  row.config_text = absl::StrCat("Config(n=", config, ")");
  std::string text;
  record::sidecar::AppendRow(record::sidecar::Dialect::kHelion, row, &text);
  writes_.push_back({.at_s = now_s_, .process = number_, .is_trace = false, .text = std::move(text)});
}

void TuningProcess::Event(const std::string& name, const std::string& members) {
  AddTrace(name, members);
  now_s_ += kStepS;
}

void TuningProcess::Start(int config) {
  AddRow(config, "started", std::nullopt);
  now_s_ += kBehindS;
  AddTrace("trial_start", Members(config, "started", std::nullopt, /*is_trial=*/false));
  now_s_ += kStepS;
}

void TuningProcess::Trial(int config, const std::string& status, std::optional<double> perf_ms) {
  AddRow(config, status, perf_ms);
  now_s_ += kBehindS;
  AddTrace("trial", Members(config, status, perf_ms, /*is_trial=*/true));
  now_s_ += kStepS;
}

void TuningProcess::Filter(int config) { Event("trial", Members(config, "filtered", std::nullopt, /*is_trial=*/true)); }

void TuningProcess::Rebenchmark(int config, double perf_ms) {
  Event("rebenchmark", Members(config, "ok", perf_ms, /*is_trial=*/false));
}

void TuningProcess::NestedStage() {
  now_s_ += 1;
  AddTrace("stage_start", "");
  csv_start_s_ = now_s_;
  generation_ = 0;
}

void TuningProcess::End(const std::string& status) {
  Event("stage_end", absl::StrCat(", \"status\": \"", status, "\""));
  Event("run_end", absl::StrCat(", \"status\": \"", status, "\""));
}

void TuningProcess::Search(int configs, std::mt19937* random) {
  std::uniform_real_distribution<double> perf_ms(0.01, 1);
  std::uniform_real_distribution<double> wait_s(0, 0.3);
  std::uniform_int_distribution<int> percent(0, 99);
  for (int config = 0; config < configs; ++config) {
    if (config % 20 == 19) ++generation_;
    if (percent(*random) < 10) Filter(1000 + config);
    Start(config);
    Wait(wait_s(*random));
    const bool is_ok = percent(*random) < 70;
    Trial(config, is_ok ? "ok" : "error", is_ok ? std::optional<double>(perf_ms(*random)) : std::nullopt);
    if (percent(*random) < 10) Rebenchmark(config, perf_ms(*random));
    if (percent(*random) < 5) Event("llm_request", ", \"prompt\": \"caf\\u00e9 \\ud83d\"");
  }
}

void TuningProcess::Kill(size_t count) {
  if (count < writes_.size()) writes_.resize(count);
}

std::vector<std::string> TuningProcess::TraceTexts() const {
  std::vector<std::string> texts;
  for (const TuningWrite& write : writes_) {
    if (write.is_trace) texts.push_back(write.text.substr(0, write.text.size() - 1));
  }
  return texts;
}

bool TuningProcess::IsIdentified() const {
  size_t trials = 0;
  size_t measured = 0;
  for (const std::string& text : TraceTexts()) {
    const record::sidecar::TraceLine line = record::sidecar::ParseTraceLine(text).value();
    if (line.event == "run_end") return true;
    if (line.event == "rebenchmark" || !line.trial.has_value()) continue;
    ++trials;
    if (line.trial->perf_ms.has_value()) ++measured;
  }
  return trials >= 32 || measured >= 2;
}

std::vector<TuningWrite> InOrder(const std::vector<TuningProcess>& processes) {
  std::vector<TuningWrite> writes;
  for (const TuningProcess& process : processes) {
    writes.insert(writes.end(), process.writes().begin(), process.writes().end());
  }
  std::stable_sort(writes.begin(), writes.end(),
                   [](const TuningWrite& a, const TuningWrite& b) { return a.at_s < b.at_s; });
  return writes;
}

std::string FileAfter(const std::vector<TuningWrite>& writes, size_t count, bool is_trace) {
  std::string text = is_trace ? "" : TuningCsvHeader();
  for (size_t i = 0; i < count; ++i) {
    if (writes[i].is_trace == is_trace) text += writes[i].text;
  }
  return text;
}

}  // namespace telemetry::worker::forward
