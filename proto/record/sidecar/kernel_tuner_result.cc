#include "proto/record/sidecar/kernel_tuner_result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/time/time.h"
#include "proto/record/numbers.h"
#include "proto/record/python_literal.h"
#include "proto/record/python_repr.h"

namespace telemetry::record::sidecar {
namespace {

constexpr double kMsOfSecond = 1000;
constexpr int kDeepestValue = 64;
// Python refuses to parse integers of more than 4300 digits.
constexpr size_t kMostDigits = 4000;

Json NumberJson(double value) { return Json::Number(FloatRepr(value)); }

void Put(Json* object, std::string key, Json value) { object->members.emplace_back(std::move(key), std::move(value)); }

bool IsFiniteNumber(const std::string& normal) {
  return normal != "NaN" && normal != "Infinity" && normal != "-Infinity" && normal.size() <= kMostDigits;
}

Json Portable(Json value, int depth) {
  if (depth > kDeepestValue) return Json::String(PythonStr(value));
  if (value.kind == Json::Kind::kNumber) {
    std::string normal = NormalNumber(value.text);
    return IsFiniteNumber(normal) ? Json::Number(std::move(normal)) : Json::String(PythonStr(value));
  }
  for (Json& item : value.items) item = Portable(std::move(item), depth + 1);
  std::vector<std::pair<std::string, Json>> members;
  for (auto& [key, member] : value.members) {
    const auto same = [&key = key](const auto& other) { return other.first == key; };
    // Python keeps the last of equal keys.
    members.erase(std::remove_if(members.begin(), members.end(), same), members.end());
    members.emplace_back(key, Portable(std::move(member), depth + 1));
  }
  value.members = std::move(members);
  return value;
}

// The outcome of a row, in the words of the T4 schema.
std::string_view InvalidityOf(const v1::Measurement& row) {
  const std::string& phase = row.failure().phase();
  if (row.status() == "ok") return row.has_perf_ms() && std::isfinite(row.perf_ms()) ? "correct" : "runtime";
  if (row.status() == "filtered") return "constraints";
  if (row.status() == "timeout") return "timeout";
  if (row.status() == "peer_compilation_fail") return "compile";
  if (phase == "generate" || phase == "compile" || phase == "load") return "compile";
  return phase == "check" ? "correctness" : "runtime";
}

// Returns the class that Kernel Tuner gives a config with this outcome.
std::string_view ErrorClassOf(const v1::Measurement& row, std::string_view invalidity) {
  if (invalidity == "constraints") return "InvalidConfig";
  if (invalidity == "compile") return "CompilationFailedConfig";
  if (invalidity == "timeout" && row.failure().phase() == "compile") return "CompilationFailedConfig";
  return "RuntimeFailedConfig";
}

Json TimestampJson(int64_t unix_us) {
  return Json::String(
      absl::FormatTime("%Y-%m-%d %H:%M:%E6S+00:00", absl::FromUnixMicros(unix_us), absl::UTCTimeZone()));
}

// Returns the milliseconds that kernel_tuner_file.h converts to exactly these seconds, if there are any.
double Milliseconds(double seconds) {
  const double ms = seconds * kMsOfSecond;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double near : {ms, std::nextafter(ms, 0.0), std::nextafter(ms, kInfinity)}) {
    if (near / kMsOfSecond == seconds) return near;
  }
  return ms;
}

Json CompileMsJson(const v1::Measurement& row) {
  if (!row.has_compile_time_s() || !std::isfinite(row.compile_time_s())) return Json::Integer(0);
  const double ms = Milliseconds(row.compile_time_s());
  return std::isfinite(ms) ? NumberJson(ms) : Json::Integer(0);
}

Json SamplesJson(const KernelTunerResult& result) {
  Json samples = Json::Array();
  if (result.detail == nullptr) return samples;
  for (const double ms : result.detail->samples_ms()) {
    if (std::isfinite(ms)) samples.items.push_back(NumberJson(ms));
  }
  return samples;
}

// The time spent in the samples: a lower bound of the time that the benchmark took.
Json BenchmarkMsJson(const KernelTunerResult& result) {
  if (result.detail == nullptr || result.detail->samples_ms().empty()) return Json::Integer(0);
  const auto& samples = result.detail->samples_ms();
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return std::isfinite(sum) ? NumberJson(sum) : Json::Integer(0);
}

std::string_view StageName(v1::MeasurementDetail::Stage stage) {
  switch (stage) {
    case v1::MeasurementDetail::STAGE_SCREENING:
      return "screening";
    case v1::MeasurementDetail::STAGE_SEARCH:
      return "search";
    case v1::MeasurementDetail::STAGE_FINAL:
      return "final";
    case v1::MeasurementDetail::STAGE_REBENCHMARK:
      return "rebenchmark";
    default:
      return "";
  }
}

// The measurements of a T4 result.
class Measurements {
 public:
  void Add(std::string_view name, Json value, std::string_view unit = "") {
    Json measurement = Json::Object();
    Put(&measurement, "name", Json::String(std::string(name)));
    Put(&measurement, "value", std::move(value));
    Put(&measurement, "unit", Json::String(std::string(unit)));
    json_.items.push_back(std::move(measurement));
  }
  void AddCount(std::string_view name, bool has, uint64_t count, std::string_view unit = "") {
    if (has) Add(name, Json::Number(std::to_string(count)), unit);
  }
  void AddNumber(std::string_view name, bool has, double value, std::string_view unit = "") {
    if (has && std::isfinite(value)) Add(name, NumberJson(value), unit);
  }
  void AddText(std::string_view name, std::string_view text) {
    if (!text.empty()) Add(name, Json::String(std::string(text)));
  }
  Json Take() { return std::move(json_); }

 private:
  Json json_ = Json::Array();
};

Json MeasurementsJson(const KernelTunerResult& result, bool is_correct) {
  const v1::Measurement& row = *result.row;
  Measurements all;
  all.AddNumber("time", is_correct, row.perf_ms(), "ms");
  if (const v1::MeasurementDetail* detail = result.detail; detail != nullptr) {
    all.AddText("stage", StageName(detail->stage()));
    all.AddCount("throttled_samples", detail->has_throttled_samples(), detail->throttled_samples());
    all.AddCount("registers", detail->has_registers(), detail->registers());
    all.AddCount("spill_bytes", detail->has_spill_bytes(), detail->spill_bytes(), "B");
    all.AddCount("shared_bytes", detail->has_shared_bytes(), detail->shared_bytes(), "B");
    all.AddNumber("occupancy", detail->has_occupancy(), detail->occupancy());
    all.AddCount("binary_bytes", detail->has_binary_bytes(), detail->binary_bytes(), "B");
    all.AddNumber("worst_absolute_error", detail->has_worst_absolute_error(), detail->worst_absolute_error());
    all.AddNumber("worst_relative_error", detail->has_worst_relative_error(), detail->worst_relative_error());
    all.AddNumber("sm_clock_mhz", detail->has_sm_clock_mhz(), detail->sm_clock_mhz(), "MHz");
  }
  all.AddText("error", row.failure().message());
  return all.Take();
}

}  // namespace

bool IsKernelTunerResult(const v1::Measurement& row) {
  return row.status() != "started" && row.status() != "deduplicated";
}

Json PortableJson(Json value) { return Portable(std::move(value), 0); }

Json ConfigurationOf(std::string_view text) {
  absl::StatusOr<Json> config = ParseConfig(text);
  if (config.ok()) return PortableJson(*std::move(config));
  Json object = Json::Object();
  Put(&object, "config", Json::String(std::string(text)));
  return object;
}

std::string FormatT4Result(const KernelTunerResult& result) {
  const std::string_view invalidity = InvalidityOf(*result.row);
  const bool is_correct = invalidity == "correct";
  Json times = Json::Object();
  Put(&times, "compilation", CompileMsJson(*result.row));
  Put(&times, "compilation_time", CompileMsJson(*result.row));
  Put(&times, "benchmark", BenchmarkMsJson(result));
  Put(&times, "framework", Json::Integer(0));
  Put(&times, "search_algorithm", Json::Integer(0));
  Put(&times, "validation", Json::Integer(0));
  Put(&times, "runtimes", SamplesJson(result));
  Json objectives = Json::Array();
  objectives.items.push_back(Json::String("time"));
  Json json = Json::Object();
  if (result.time_unix_us.has_value()) Put(&json, "timestamp", TimestampJson(*result.time_unix_us));
  Put(&json, "configuration", *result.configuration);
  Put(&json, "times", std::move(times));
  Put(&json, "invalidity", Json::String(std::string(invalidity)));
  Put(&json, "correctness", Json::Integer(is_correct ? 1 : 0));
  Put(&json, "measurements", MeasurementsJson(result, is_correct));
  Put(&json, "objectives", std::move(objectives));
  return ToJson(json);
}

std::string FormatCacheEntry(const KernelTunerResult& result) {
  const std::string_view invalidity = InvalidityOf(*result.row);
  Json json = *result.configuration;
  if (invalidity == "correct") {
    Put(&json, "time", NumberJson(result.row->perf_ms()));
    Put(&json, "times", SamplesJson(result));
  } else {
    const std::string error(ErrorClassOf(*result.row, invalidity));
    Put(&json, "time", Json::String(error));
    Put(&json, "__error__", Json::String(error));
  }
  Put(&json, "compile_time", CompileMsJson(*result.row));
  Put(&json, "verification_time", Json::Integer(0));
  Put(&json, "benchmark_time", BenchmarkMsJson(result));
  Put(&json, "strategy_time", Json::Integer(0));
  Put(&json, "framework_time", Json::Integer(0));
  if (result.time_unix_us.has_value()) Put(&json, "timestamp", TimestampJson(*result.time_unix_us));
  return ToJson(json);
}

bool IsCacheEntryKey(std::string_view name) {
  constexpr std::string_view kKeys[] = {
      "time",           "times",         "__error__",      "compile_time", "verification_time",
      "benchmark_time", "strategy_time", "framework_time", "timestamp"};
  return std::find(std::begin(kKeys), std::end(kKeys), name) != std::end(kKeys);
}

}  // namespace telemetry::record::sidecar
