#include "proto/record/sidecar/kernel_tuner_file.h"

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"

namespace telemetry::record::sidecar {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Sample(const std::string& name) {
  std::ifstream file(TestdataDir() + "/kernel-tuner/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(KernelTunerFile, ACacheFileHasItsRows) {
  const absl::StatusOr<KernelTunerFile> file = ParseKernelTunerFile(Sample("vector_add.json"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->kind, KernelTunerFile::Kind::kCache);
  EXPECT_EQ(file->kernel_name, "vector_add");
  EXPECT_THAT(file->hardware, HasSubstr("EPYC"));
  EXPECT_EQ(file->settings_json, R"({"problem_size": 10000})");
  ASSERT_THAT(file->rows, SizeIs(4));
  const MeasurementLine& row = file->rows[1];
  EXPECT_EQ(row.config.text(), "Config(block_size_x=32, vector=2)");
  EXPECT_EQ(row.measurement.seq(), 2U);
  EXPECT_EQ(row.measurement.status(), "ok");
  EXPECT_NEAR(row.measurement.perf_ms(), 0.0057, 0.0001);
  EXPECT_NEAR(row.measurement.compile_time_s(), 0.0389, 0.0001);
  EXPECT_NEAR(row.measurement.timestamp_s(), 0.044, 0.001);
  ASSERT_TRUE(row.detail.has_value());
  EXPECT_THAT(row.detail->samples_ms(), SizeIs(7));
}

TEST(KernelTunerFile, ACacheFileMayLackItsEnd) {
  const std::string whole = Sample("vector_add.json");
  std::string cut = whole.substr(0, whole.rfind("\n}"));
  cut.pop_back();  // the brace that closes the entries
  for (const std::string& text : {cut, cut + ",", cut + ",\n\"128,1\": {\"block_si"}) {
    const absl::StatusOr<KernelTunerFile> file = ParseKernelTunerFile(text);
    ASSERT_TRUE(file.ok()) << file.status() << text.substr(text.size() - 40);
    EXPECT_THAT(file->rows, SizeIs(4));
  }
}

TEST(KernelTunerFile, AT4FileHasTheSameRows) {
  const absl::StatusOr<KernelTunerFile> cache = ParseKernelTunerFile(Sample("vector_add.json"));
  const absl::StatusOr<KernelTunerFile> t4 = ParseKernelTunerFile(Sample("vector_add_t4.json"));
  ASSERT_TRUE(cache.ok() && t4.ok()) << t4.status();
  EXPECT_EQ(t4->kind, KernelTunerFile::Kind::kT4);
  ASSERT_EQ(t4->rows.size(), cache->rows.size());
  for (size_t at = 0; at < t4->rows.size(); ++at) {
    EXPECT_EQ(t4->rows[at].measurement.SerializeAsString(), cache->rows[at].measurement.SerializeAsString());
    EXPECT_EQ(t4->rows[at].detail->SerializeAsString(), cache->rows[at].detail->SerializeAsString());
  }
}

TEST(KernelTunerFile, FailuresHaveAStatusAndAPhase) {
  const auto parsed = [](std::string_view time) {
    return ParseKernelTunerFile(
        absl::StrCat(R"({"kernel_name": "k", "tune_params_keys": ["n"], "cache": {"1": {"n": 1, "time": )",
                     std::string(time), "}}}"));
  };
  EXPECT_EQ(parsed(R"("CompilationFailedConfig")")->rows[0].measurement.status(), "error");
  EXPECT_EQ(parsed(R"("CompilationFailedConfig")")->rows[0].measurement.failure().phase(), "compile");
  EXPECT_EQ(parsed(R"("InvalidConfig")")->rows[0].measurement.status(), "filtered");
  EXPECT_EQ(parsed(R"(1, "__error__": "RuntimeFailedConfig")")->rows[0].measurement.failure().phase(), "run");
  EXPECT_EQ(parsed("1e20")->rows[0].measurement.status(), "error");
  EXPECT_FALSE(parsed("1e20")->rows[0].measurement.has_perf_ms());
  const auto t4 = ParseKernelTunerFile(
      R"({"results": [{"configuration": {"n": 1}, "invalidity": "timeout", "times": {"compilation_time": 1500}}]})");
  ASSERT_TRUE(t4.ok()) << t4.status();
  EXPECT_EQ(t4->rows[0].measurement.status(), "timeout");
  EXPECT_EQ(t4->rows[0].measurement.compile_time_s(), 1.5);
}

TEST(KernelTunerFile, OtherJsonIsNone) {
  EXPECT_TRUE(LooksLikeKernelTunerFile(Sample("vector_add.json")));
  EXPECT_TRUE(LooksLikeKernelTunerFile(Sample("vector_add_t4.json")));
  EXPECT_FALSE(LooksLikeKernelTunerFile(R"({"name": "package", "version": "1"})"));
  for (const char* text : {"{}", "[]", "", R"({"results": [{}]})", R"({"kernel_name": "k", "cache": {}})"}) {
    EXPECT_EQ(ParseKernelTunerFile(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace telemetry::record::sidecar
