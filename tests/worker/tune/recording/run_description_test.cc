#include "worker/tune/recording/run_description.h"

#include <gtest/gtest.h>

#include "proto/record/ids.h"
#include "proto/record/sidecar/meta_record.h"
#include "tests/worker/tune/recording/sample_attempt.h"

namespace telemetry::worker::tune::recording {
namespace {

TEST(RunDescription, ShapesAndDTypesStandAsPythonPrintsThem) {
  EXPECT_EQ(PythonShapes({}), "[]");
  EXPECT_EQ(PythonShapes({{4096, 2560}, {2560}, {}}), "[(4096, 2560), (2560,), ()]");
  const std::vector<std::string> names = {"torch.float16", "torch.int64"};
  EXPECT_EQ(PythonDTypes(names), "['torch.float16', 'torch.int64']");
}

TEST(RunDescription, IsTheRunThatItsSidecarRecordGives) {
  const v1::Run run = SampleAttempt().run;
  const record::Json line = record::ParseJson(record::sidecar::FormatHelionMeta(run, nullptr, {})).value();
  EXPECT_EQ(record::sidecar::ParseMetaRecord(line)->run.DebugString(), run.DebugString());
  EXPECT_TRUE(record::IsHexId(run.kernel_id()));
}

TEST(RunDescription, EverythingThatMakesCodeDifferentMakesAnotherRun) {
  const RunDescription base = {.kernel_name = "softmax",
                               .kernel_source = "source",
                               .input_shapes = "[(1,)]",
                               .dtypes = "['torch.float16']",
                               .hardware = "NVIDIA H200",
                               .settings = record::ParseJson(R"({"fast_math": false})").value()};
  const std::string run_id = DescribeRun(base).run_id();
  RunDescription other = base;
  other.kernel_name = "another name";
  EXPECT_EQ(DescribeRun(other).run_id(), run_id);
  (other = base).settings = record::ParseJson(R"({"fast_math": true})").value();
  EXPECT_NE(DescribeRun(other).run_id(), run_id);
  for (std::string RunDescription::*field : {&RunDescription::kernel_source, &RunDescription::input_shapes,
                                             &RunDescription::dtypes, &RunDescription::hardware}) {
    (other = base).*field = "other";
    EXPECT_NE(DescribeRun(other).run_id(), run_id);
  }
}

TEST(RunDescription, WithoutSettingsThereIsNoKernelId) {
  const v1::Run run = DescribeRun({.kernel_name = "softmax", .kernel_source = "source"});
  EXPECT_FALSE(run.has_kernel_id());
  EXPECT_FALSE(run.has_settings_json());
  EXPECT_TRUE(record::IsHexId(run.run_id()));
}

}  // namespace
}  // namespace telemetry::worker::tune::recording
