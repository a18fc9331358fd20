#include "server/export/render/kernel_tuner_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "proto/record/json.h"
#include "proto/record/sidecar/kernel_tuner_file.h"
#include "proto/record/sidecar/kernel_tuner_result.h"
#include "tests/server/export/memory_dataset.h"
#include "tests/server/export/render/render.h"

namespace telemetry::exporter::render {
namespace {

using record::sidecar::KernelTunerFile;
using record::sidecar::ParseKernelTunerFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kStarted = 1'764'000'000'250'000;  // 2025-11-24 16:00:00.25 UTC

std::map<Part, std::string> MustRenderText(const MemoryDataset& dataset, Layout layout) {
  absl::StatusOr<std::map<Part, std::string>> parts = Render(dataset.Source(1), layout);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.value_or(std::map<Part, std::string>());
}

v1::Run ConvRun() {
  v1::Run run;
  run.set_run_id(Id64('1'));
  run.set_kernel_name("conv");
  run.set_hardware("NVIDIA H200");
  return run;
}

v1::Attempt ConvAttempt(const std::string& environment) {
  v1::Attempt attempt;
  attempt.set_attempt_id(std::string(16, 'A'));
  attempt.set_started_unix_us(kStarted);
  attempt.set_environment_json(environment);
  return attempt;
}

v1::MeasurementDetail Detail(v1::MeasurementDetail::Stage stage, std::vector<double> samples) {
  v1::MeasurementDetail detail;
  detail.set_stage(stage);
  for (const double ms : samples) detail.add_samples_ms(ms);
  return detail;
}

// A search with a final: one config is measured twice, one does not compile.
void AddSearch(MemoryDataset* added) {
  MemoryDataset& dataset = *added;
  dataset.Run(ConvRun()).Attempt(
      ConvAttempt(R"({"program": "telemetry-worker 1.2", "os": "Debian 12", "cpu": "EPYC", "ci": {"job": 1},)"
                  R"( "space": {"tile": [4, 1, 2], "mode": ["a", "b"]}, "problem_size": [100, 60]})"));
  v1::MeasurementDetail searched = Detail(v1::MeasurementDetail::STAGE_SEARCH, {0.5, 0.25});
  searched.set_registers(32);
  searched.set_shared_bytes(1024);
  searched.set_worst_absolute_error(1e-7);
  dataset.Add({.config_text = "Config(mode='a', tile=4)", .status = "started", .timestamp_s = 0.5});
  dataset.Add({.config_text = "Config(mode='a', tile=4)",
               .timestamp_s = 1.5,
               .perf_ms = 0.375,
               .compile_time_s = 0.125,
               .detail = searched});
  v1::Failure failure;
  failure.set_phase("compile");
  failure.set_message("line 1: \"x\"");
  dataset.Add({.config_text = "Config(mode='b', tile=1)", .status = "error", .timestamp_s = 2, .failure = failure});
  dataset.Add({.config_text = "Config(mode='a', tile=4)",
               .timestamp_s = 3,
               .perf_ms = 0.5,
               .detail = Detail(v1::MeasurementDetail::STAGE_FINAL, {0.5})});
}

TEST(KernelTunerText, T4HasAResultForEachOutcome) {
  MemoryDataset dataset;
  AddSearch(&dataset);
  auto parts = MustRenderText(dataset, Layout::kT4);
  EXPECT_EQ(parts[Part::kRows], R"({"results": [
{"timestamp": "2025-11-24 16:00:01.750000+00:00", "configuration": {"mode": "a", "tile": 4}, "times": {"compilation": 125.0, "compilation_time": 125.0, "benchmark": 0.75, "framework": 0, "search_algorithm": 0, "validation": 0, "runtimes": [0.5, 0.25]}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 0.375, "unit": "ms"}, {"name": "stage", "value": "search", "unit": ""}, {"name": "registers", "value": 32, "unit": ""}, {"name": "shared_bytes", "value": 1024, "unit": "B"}, {"name": "worst_absolute_error", "value": 1e-07, "unit": ""}], "objectives": ["time"]},
{"timestamp": "2025-11-24 16:00:02.250000+00:00", "configuration": {"mode": "b", "tile": 1}, "times": {"compilation": 0, "compilation_time": 0, "benchmark": 0, "framework": 0, "search_algorithm": 0, "validation": 0, "runtimes": []}, "invalidity": "compile", "correctness": 0, "measurements": [{"name": "error", "value": "line 1: \"x\"", "unit": ""}], "objectives": ["time"]},
{"timestamp": "2025-11-24 16:00:03.250000+00:00", "configuration": {"mode": "a", "tile": 4}, "times": {"compilation": 0, "compilation_time": 0, "benchmark": 0.5, "framework": 0, "search_algorithm": 0, "validation": 0, "runtimes": [0.5]}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 0.5, "unit": "ms"}, {"name": "stage", "value": "final", "unit": ""}], "objectives": ["time"]}
], "schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds", "run_id": "1111111111111111111111111111111111111111111111111111111111111111", "kernel_name": "conv", "device_name": "NVIDIA H200", "problem_size": [100, 60], "tune_params": {"tile": [4, 1, 2], "mode": ["a", "b"]}}}
)");
  EXPECT_THAT(parts[Part::kMeta], testing::StartsWith(R"({
  "metadata": {
    "hardware": {
      "hardware_description": [
        {
          "os": "Debian 12",
          "cpu": "EPYC"
        }
      ],
      "operating_system": "Debian 12"
    },
    "environment": {
      "device_query": {},
      "requirements": [
        "telemetry-worker 1.2"
      ]
    },
    "run": {
      "run_id": "1111)"));
}

TEST(KernelTunerText, ACacheHasOneEntryForEachConfigWithItsFinalMeasurement) {
  MemoryDataset dataset;
  AddSearch(&dataset);
  auto parts = MustRenderText(dataset, Layout::kKernelTunerCache);
  EXPECT_EQ(parts[Part::kRows], R"({
"device_name": "NVIDIA H200",
"kernel_name": "conv",
"problem_size": [100, 60],
"tune_params_keys": ["tile", "mode"],
"tune_params": {"tile": [4, 1, 2], "mode": ["a", "b"]},
"objective": "time",
"cache": {
"4,a": {"mode": "a", "tile": 4, "time": 0.5, "times": [0.5], "compile_time": 0, "verification_time": 0, "benchmark_time": 0.5, "strategy_time": 0, "framework_time": 0, "timestamp": "2025-11-24 16:00:03.250000+00:00"},
"1,b": {"mode": "b", "tile": 1, "time": "CompilationFailedConfig", "__error__": "CompilationFailedConfig", "compile_time": 0, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0, "framework_time": 0, "timestamp": "2025-11-24 16:00:02.250000+00:00"}}
}
)");
  EXPECT_FALSE(parts.contains(Part::kMeta));
}

TEST(KernelTunerText, T4ComesBackWithItsDetails) {
  MemoryDataset dataset;
  AddSearch(&dataset);
  const absl::StatusOr<KernelTunerFile> file = ParseKernelTunerFile(MustRenderText(dataset, Layout::kT4)[Part::kRows]);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->kernel_name, "conv");
  EXPECT_EQ(file->hardware, "NVIDIA H200");
  EXPECT_EQ(file->settings_json, R"({"problem_size": [100, 60]})");
  ASSERT_EQ(file->rows.size(), 3U);
  EXPECT_EQ(file->rows[0].measurement.compile_time_s(), 0.125);
  EXPECT_EQ(file->rows[0].detail->registers(), 32U);
  EXPECT_EQ(file->rows[0].detail->stage(), v1::MeasurementDetail::STAGE_SEARCH);
  EXPECT_THAT(file->rows[0].detail->samples_ms(), ElementsAre(0.5, 0.25));
  EXPECT_EQ(file->rows[1].measurement.failure().phase(), "compile");
  EXPECT_EQ(file->rows[1].measurement.failure().message(), "line 1: \"x\"");
  EXPECT_EQ(file->rows[2].detail->stage(), v1::MeasurementDetail::STAGE_FINAL);
}

TEST(KernelTunerText, StatusesAreOutcomes) {
  const std::pair<const char*, const char*> of_status[] = {
      {"timeout", "timeout"}, {"filtered", "constraints"}, {"peer_compilation_fail", "compile"},
      {"ok", "runtime"},  // without a time
      {"error", "runtime"},   {"exotic", "runtime"}};
  for (const auto& [status, invalidity] : of_status) {
    MemoryDataset dataset;
    dataset.Run(ConvRun()).Attempt('A').Add({.status = status});
    EXPECT_THAT(MustRenderText(dataset, Layout::kT4)[Part::kRows],
                HasSubstr("\"invalidity\": \"" + std::string(invalidity) + "\""))
        << status;
  }
  const std::pair<const char*, const char*> of_phase[] = {
      {"check", "correctness"}, {"load", "compile"}, {"generate", "compile"}, {"launch", "runtime"}};
  for (const auto& [phase, invalidity] : of_phase) {
    v1::Failure failure;
    failure.set_phase(phase);
    MemoryDataset dataset;
    dataset.Run(ConvRun()).Attempt('A').Add({.status = "error", .failure = failure});
    EXPECT_THAT(MustRenderText(dataset, Layout::kT4)[Part::kRows],
                HasSubstr("\"invalidity\": \"" + std::string(invalidity) + "\""))
        << phase;
  }
}

TEST(KernelTunerText, HostileValuesDoNotBreakTheJson) {
  const std::string deep = std::string(150, '[') + std::string(150, ']');
  const std::string long_number(5000, '7');
  MemoryDataset dataset;
  v1::Run run = ConvRun();
  run.set_kernel_name("");
  run.set_settings_json(R"({"problem_size": [NaN, 1e999]})");
  dataset.Run(run).Attempt(
      ConvAttempt(R"({"space": {"a": "text", "b": [NaN], "c": {"d": Infinity}}, "os": 7, "program": []})"));
  for (const std::string& text : {
           std::string("Config(a=nan, b=inf, c=-inf)"),
           std::string("Config(a='\\U0001f600\"\\\\\\n,', b=1)"),
           std::string("Config(b=1)"),
           std::string("Config(a={'x': nan})"),
           "Config(a=" + deep + ")",
           "Config(a=" + long_number + ")",
           std::string("Config()"),
       }) {
    dataset.Add({.config_text = text, .perf_ms = 1});
  }
  for (const Layout layout : {Layout::kT4, Layout::kKernelTunerCache}) {
    auto parts = MustRenderText(dataset, layout);
    for (const auto& [part, text] : parts) {
      if (part == Part::kAttempts) continue;
      EXPECT_TRUE(record::ParseJson(text).ok()) << record::ParseJson(text).status() << text;
      EXPECT_THAT(text, Not(HasSubstr("NaN")));
      EXPECT_THAT(text, Not(HasSubstr("Infinity")));
      EXPECT_THAT(text, Not(HasSubstr(": " + long_number)));
    }
    EXPECT_TRUE(ParseKernelTunerFile(parts[Part::kRows]).ok() || layout == Layout::kKernelTunerCache);
  }
}

TEST(KernelTunerText, AConfigThatIsNoObjectIsAText) {
  EXPECT_EQ(record::ToJson(record::sidecar::ConfigurationOf("Config(f(x))")), R"~({"config": "Config(f(x))"})~");
  EXPECT_EQ(record::ToJson(record::sidecar::ConfigurationOf("")), R"({"config": ""})");
}

TEST(KernelTunerText, WithoutASpaceTheParametersAreThoseOfTheConfigs) {
  MemoryDataset dataset;
  dataset.Run(ConvRun()).Attempt('A');
  for (const char* text : {"Config(a=8, b='x')", "Config(a=2, b='y', c=1.5)", "Config(a=2, b='y', c=True)"}) {
    dataset.Add({.config_text = text, .perf_ms = 1});
  }
  const std::string cache = MustRenderText(dataset, Layout::kKernelTunerCache)[Part::kRows];
  EXPECT_THAT(cache, HasSubstr(R"("tune_params_keys": ["a", "b", "c"])"));
  EXPECT_THAT(cache, HasSubstr(R"("tune_params": {"a": [2, 8], "b": ["x", "y"], "c": [1.5, true]})"));
  EXPECT_THAT(cache, HasSubstr("\n\"8,x,None\": {\"a\": 8, \"b\": \"x\", \"time\""));
  EXPECT_THAT(cache, HasSubstr("\n\"2,y,1.5\": "));
  EXPECT_THAT(cache, HasSubstr("\n\"2,y,True\": "));
}

TEST(KernelTunerText, ConfigsWithOneKeyHaveOneEntry) {
  MemoryDataset dataset;
  dataset.Run(ConvRun()).Attempt('A');
  dataset.Add({.config_text = "Config(a='1,2', b='3')", .perf_ms = 1});
  dataset.Add({.config_text = "Config(a='1', b='2,3')", .perf_ms = 2});
  const std::string cache = MustRenderText(dataset, Layout::kKernelTunerCache)[Part::kRows];
  EXPECT_EQ(cache.find("\"1,2,3\""), cache.rfind("\"1,2,3\""));
}

TEST(KernelTunerText, AParameterWithTheNameOfAKeyIsRefused) {
  MemoryDataset dataset;
  dataset.Run(ConvRun()).Attempt('A').Add({.config_text = "Config(time=1)", .perf_ms = 1});
  EXPECT_THAT(std::string(Render(dataset.Source(), Layout::kKernelTunerCache).status().message()),
              HasSubstr("cannot hold a parameter named 'time'"));
  EXPECT_THAT(MustRenderText(dataset, Layout::kT4)[Part::kRows], HasSubstr("\"configuration\": {\"time\": 1}"));
}

TEST(KernelTunerText, AMeasurementThatStoppedEarlyIsReplaced) {
  MemoryDataset dataset;
  dataset.Run(ConvRun()).Attempt('A');
  dataset.Add({.status = "error"});
  dataset.Add({.perf_ms = 1, .detail = Detail(v1::MeasurementDetail::STAGE_SCREENING, {1})});
  EXPECT_THAT(MustRenderText(dataset, Layout::kKernelTunerCache)[Part::kRows], HasSubstr("\"time\": 1.0"));
  dataset.Add({.perf_ms = 3, .detail = Detail(v1::MeasurementDetail::STAGE_SEARCH, {3})});
  dataset.Add({.perf_ms = 2, .detail = Detail(v1::MeasurementDetail::STAGE_SEARCH, {2})});
  EXPECT_THAT(MustRenderText(dataset, Layout::kKernelTunerCache)[Part::kRows], HasSubstr("\"time\": 3.0"));
}

TEST(KernelTunerText, SeveralRunsAreRefused) {
  MemoryDataset dataset;
  dataset.Run(ConvRun()).Attempt('A').Add({});
  dataset.Run(SoftmaxRun('2')).Attempt('B').Add({});
  for (const auto& [layout, name] : {std::pair(Layout::kT4, "t4"), {Layout::kKernelTunerCache, "kernel-tuner-cache"}}) {
    EXPECT_THAT(std::string(Render(dataset.Source(), layout).status().message()),
                HasSubstr("the " + std::string(name) + " layout can hold only one run"));
  }
}

}  // namespace
}  // namespace telemetry::exporter::render
