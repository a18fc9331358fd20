#include "worker/repro/repro_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "worker/tune/library_subject.h"

namespace telemetry::worker::repro {
namespace {

using device::Dialect;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RecordedMeasurement Measured(Dialect dialect = Dialect::kCuda) {
  const kernels::LibraryKernel& kernel = **kernels::FindKernel("softmax");
  RecordedMeasurement measured = {
      .run = tune::MakeLibraryRun(kernel, kernels::MakeProblem(kernel, device::DType::kF16, {{"m", 16}, {"n", 64}}), {},
                                  {.dialect = dialect, .name = "NVIDIA H200"}),
      .config_id = 0x0123456789abcdef,
      .config = *codegen::Config::Parse("Config(block_sizes=[2], num_warps=2)")};
  measured.row.set_status("ok");
  measured.row.set_perf_ms(0.0125);
  measured.attempt.set_seed(7);
  measured.attempt.set_environment_json(R"({"device": {"architecture": "sm_90", "compute_units": 78}})");
  return measured;
}

// Returns the comments at the beginning of a program.
std::string HeadComments(const ReproProgram& program) {
  return program.text.substr(0, program.text.find('\n', program.text.find("Run:")));
}

TEST(ReproProgram, SaysWhereItComesFromAndHowItIsMade) {
  const absl::StatusOr<ReproProgram> program = MakeReproProgram(Measured(), ProgramLanguage::kCpp);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->path, "softmax_0123456789abcdef.cpp");
  EXPECT_THAT(program->notices, IsEmpty());
  EXPECT_THAT(program->command, AllOf(HasSubstr("softmax_0123456789abcdef.cpp"), HasSubstr("-lnvrtc")));
  EXPECT_THAT(HeadComments(*program),
              AllOf(HasSubstr(Measured().run.run_id()), HasSubstr("0123456789abcdef"), HasSubstr("NVIDIA H200"),
                    HasSubstr("measured: status ok, 0.012500 ms"), HasSubstr("Config(block_sizes=[2], num_warps=2)")));
}

TEST(ReproProgram, ThereIsOneInPython) {
  const absl::StatusOr<ReproProgram> program = MakeReproProgram(Measured(), ProgramLanguage::kPython);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->path, "softmax_0123456789abcdef.py");
  EXPECT_EQ(program->command, "python3 softmax_0123456789abcdef.py");
  EXPECT_THAT(HeadComments(*program), HasSubstr("measured: status ok, 0.012500 ms"));
}

TEST(ReproProgram, ItsCommandIsForThePathThatItIsWrittenTo) {
  const auto command = [](const std::string& path, ProgramLanguage language = ProgramLanguage::kCpp) {
    const absl::StatusOr<ReproProgram> program = MakeReproProgram(Measured(), language, path);
    return program.ok() ? program->command : program.status().ToString();
  };
  EXPECT_THAT(command("slow.cpp"), AllOf(HasSubstr(" slow.cpp -o slow "), EndsWith(" && ./slow")));
  EXPECT_THAT(command("/tmp/a/slow.cpp"), AllOf(HasSubstr(" -o /tmp/a/slow "), EndsWith(" && /tmp/a/slow")));
  EXPECT_THAT(command("it's slow.cpp"), EndsWith(R"( && './it'\''s slow')"));
  EXPECT_THAT(command("-o.cpp"), HasSubstr(" ./-o.cpp -o ./-o "));
  EXPECT_THAT(command("slow"), AllOf(HasSubstr(" -x c++ slow -x none -o slow.out "), EndsWith(" && ./slow.out")));
  EXPECT_EQ(command("my programs/slow.py", ProgramLanguage::kPython), "python3 'my programs/slow.py'");
}

TEST(ReproProgram, AnArchitectureThatIsNotKnownIsSaid) {
  RecordedMeasurement measured = Measured();
  measured.attempt.clear_environment_json();
  const absl::StatusOr<ReproProgram> program = MakeReproProgram(measured, ProgramLanguage::kCpp);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->notices, ElementsAre(HasSubstr("assuming sm_90")));
  EXPECT_THAT(HeadComments(*program), HasSubstr(program->notices.front()));
}

TEST(ReproProgram, WhatFailedHasNoTimeToCompareWith) {
  RecordedMeasurement measured = Measured(Dialect::kOpenCl);
  measured.row.set_status("error");
  measured.row.clear_perf_ms();
  const absl::StatusOr<ReproProgram> program = MakeReproProgram(measured, ProgramLanguage::kCpp);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->command, HasSubstr("libOpenCL"));
  EXPECT_THAT(HeadComments(*program), AllOf(HasSubstr("measured: status error"), Not(HasSubstr(" ms"))));
}

}  // namespace
}  // namespace telemetry::worker::repro
