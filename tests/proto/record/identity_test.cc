#include "proto/record/identity.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/tuner_run.h"

namespace telemetry::record {
namespace {

v1::Run Described() {
  v1::Run run;
  run.set_run_id(std::string(64, 'a'));
  run.set_kernel_source("def softmax(x): ...");
  run.set_input_shapes("[(4096, 2560)]");
  run.set_dtypes("['torch.float16']");
  run.set_hardware("NVIDIA H200");
  return run;
}

v1::Run HelionRun() {
  v1::Run run = Described();
  run.set_settings_json(R"({"static_shapes": true, "fast_math": false})");
  run.set_run_id(RunIdHelion(run.kernel_source(), *ParseJson(run.settings_json()), run.input_shapes(), run.dtypes(),
                             run.hardware()));
  return run;
}

v1::Run Pr2750Run() {
  v1::Run run = Described();
  run.set_settings_signature("static_shapes=True");
  run.set_kernel_id(KernelId(run.kernel_source(), run.settings_signature()));
  run.set_run_id(RunIdPr2750(run.kernel_id(), run.input_shapes(), run.dtypes(), run.hardware()));
  return run;
}

TEST(Identity, ARunIdIsHeldAgainstItsContent) {
  EXPECT_EQ(CheckRunId(HelionRun()).verdict, IdentityCheck::kTrue);
  EXPECT_EQ(CheckRunId(Pr2750Run()).verdict, IdentityCheck::kTrue);
  v1::Run without_settings = Described();
  without_settings.set_run_id(RunIdHelion(without_settings.kernel_source(), Json::Null(),
                                          without_settings.input_shapes(), without_settings.dtypes(),
                                          without_settings.hardware()));
  EXPECT_EQ(CheckRunId(without_settings).verdict, IdentityCheck::kTrue);
}

TEST(Identity, AnotherContentHasAnotherRunId) {
  for (const v1::Run& run : {HelionRun(), Pr2750Run()}) {
    v1::Run other = run;
    other.set_run_id(std::string(64, 'f'));
    EXPECT_EQ(CheckRunId(other).verdict, IdentityCheck::kFalse);
    EXPECT_EQ(CheckRunId(other).expected, run.run_id());
    for (const char* field : {"kernel_source", "input_shapes", "dtypes", "hardware"}) {
      other = run;
      other.GetReflection()->SetString(&other, other.GetDescriptor()->FindFieldByName(field), "forged");
      EXPECT_EQ(CheckRunId(other).verdict, IdentityCheck::kFalse) << field;
    }
  }
}

TEST(Identity, WhatCannotBeRecomputedIsNeitherTrueNorFalse) {
  v1::Run incomplete = HelionRun();
  incomplete.clear_hardware();
  EXPECT_EQ(CheckRunId(incomplete).verdict, IdentityCheck::kUnknown);
  v1::Run newer = HelionRun();
  newer.set_run_id(std::string(64, 'f'));
  newer.set_extra_json(R"({"cute_structural_policy": {}})");
  EXPECT_EQ(CheckRunId(newer).verdict, IdentityCheck::kUnknown);
  v1::Run unusual_signature = Pr2750Run();
  unusual_signature.clear_settings_signature();
  EXPECT_EQ(CheckRunId(unusual_signature).verdict, IdentityCheck::kUnknown);
}

v1::Run TunerRunOf(std::string_view tuner) {
  v1::Run run = Described();
  run.set_kernel_name("softmax");
  run.set_settings_json(R"({"key": {"n": 4}})");
  run.set_extra_json(absl::StrCat(R"({"tuner": ")", std::string(tuner), R"("})"));
  run.set_run_id(RunIdOfTuner({.tuner = tuner,
                               .kernel_name = run.kernel_name(),
                               .kernel_source = run.kernel_source(),
                               .settings = *ParseJson(run.settings_json()),
                               .input_shapes = run.input_shapes(),
                               .dtypes = run.dtypes(),
                               .hardware = run.hardware()}));
  return run;
}

TEST(Identity, TheRunOfAnotherTunerIsHeldAgainstItsOwnFormula) {
  const v1::Run run = TunerRunOf("triton");
  EXPECT_EQ(CheckRunId(run).verdict, IdentityCheck::kTrue);
  EXPECT_NE(run.run_id(), TunerRunOf("kernel_tuner").run_id());
  v1::Run reordered = run;
  reordered.set_settings_json(R"({ "key":{"n":4}})");
  EXPECT_EQ(CheckRunId(reordered).verdict, IdentityCheck::kTrue);
  for (const char* field : {"kernel_name", "kernel_source", "input_shapes", "dtypes", "hardware"}) {
    v1::Run other = run;
    other.GetReflection()->SetString(&other, other.GetDescriptor()->FindFieldByName(field), "forged");
    EXPECT_EQ(CheckRunId(other).verdict, IdentityCheck::kFalse) << field;
  }
  v1::Run claimed = HelionRun();
  claimed.set_kernel_name("softmax");
  claimed.set_extra_json(R"({"tuner": "triton"})");
  EXPECT_EQ(CheckRunId(claimed).verdict, IdentityCheck::kFalse);
  v1::Run incomplete = run;
  incomplete.clear_settings_json();
  EXPECT_EQ(CheckRunId(incomplete).verdict, IdentityCheck::kUnknown);
}

TEST(Identity, TheRunIdOfATunerIsThatOfTheDocumentation) {
  EXPECT_EQ(TunerRunOf("triton").run_id(), "2c169841a8d5305d44e39a23eda27791e6118fd7b8978000652ad54764fca22e");
}

TEST(Identity, AConfigIdIsHeldAgainstItsText) {
  const uint64_t id = ConfigId(*ParseJson(R"({"n": 4, "m": "y"})"));
  EXPECT_EQ(CheckConfigId(id, "Config(n=4, m='y')").verdict, IdentityCheck::kTrue);
  EXPECT_EQ(CheckConfigId(id, "helion.Config(m='y', n=4)").verdict, IdentityCheck::kTrue);
  EXPECT_EQ(CheckConfigId(id, "Config(n=5)").verdict, IdentityCheck::kFalse);
  EXPECT_EQ(CheckConfigId(1, "Config(n=4, m='y')").expected, FormatConfigId(id));
  EXPECT_EQ(CheckConfigId(id, "no call").verdict, IdentityCheck::kUnknown);
}

}  // namespace
}  // namespace telemetry::record
