#include "worker/forward/run_identity.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/ids.h"

namespace telemetry::worker::forward {
namespace {

using ::testing::HasSubstr;

const IdentityFlags kAll = {.kernel_name = "softmax",
                            .kernel_source = "def softmax(): pass\n",
                            .input_shapes = "[(4, 4)]",
                            .dtypes = "['torch.float16']",
                            .hardware = "NVIDIA H200"};

TEST(RunIdentity, FlagsDescribeARunThatNothingElseDoes) {
  absl::StatusOr<v1::Run> run = RunOfRow({}, nullptr, kAll);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->kernel_id(), record::Sha256Hex("def softmax(): pass\nstatic_shapes=True"));
  EXPECT_EQ(run->run_id(), record::RunIdPr2750(run->kernel_id(), "[(4, 4)]", "['torch.float16']", "NVIDIA H200"));
  EXPECT_EQ(run->kernel_name(), "softmax");
}

TEST(RunIdentity, WhatIsMissingIsNamedByItsFlag) {
  IdentityFlags some = kAll;
  some.hardware.clear();
  some.kernel_source.clear();
  const absl::Status status = RunOfRow({}, nullptr, some).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("--kernel-source, --hardware"));
}

TEST(RunIdentity, TheRecordOfTheRowsKernelWins) {
  v1::Run record;
  record.set_run_id("r");
  record.set_kernel_id("k");
  record::sidecar::Row row;
  row.kernel_id = "k";
  EXPECT_EQ(RunOfRow(row, &record, {})->run_id(), "r");
  row.kernel_id = "another";
  EXPECT_THAT(RunOfRow(row, &record, {}).status().ToString(), HasSubstr("kernel_id another"));
}

TEST(RunIdentity, ASourceThatIsNotTheRowsKernelIsRefused) {
  record::sidecar::Row row;
  row.kernel_id = std::string(64, 'a');
  EXPECT_THAT(RunOfRow(row, nullptr, kAll).status().ToString(), HasSubstr("is not the kernel of its rows"));
}

}  // namespace
}  // namespace telemetry::worker::forward
