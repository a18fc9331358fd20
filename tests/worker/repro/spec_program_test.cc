#include "worker/repro/spec_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "worker/tune/spec_subject.h"

namespace telemetry::worker::repro {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kSource[] = R"(
// "Quotes", a \ and three question marks ???= must arrive unchanged.
__constant__ float weights[8];
template <typename T, int per_thread> __global__ void scale(T* out, const T* in, float factor) {
  const int at = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  for (int i = 0; i < per_thread; ++i) out[at + i] = in[at + i] * factor * weights[i];
}
template <typename T> __global__ void plain(T* out, const T* in, float factor) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  out[at] = in[at] * factor * weights[at % per_thread];
}
)";

constexpr char kSpecification[] = R"({
  "ConfigurationSpace": {"TuningParameters": [{"Name": "per_thread", "Type": "int", "Values": "[1, 2, 4]"},
                                              {"Name": "block_size_x", "Type": "int", "Values": "[32, 64]"}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "scale<float, per_thread>", "KernelFile": "scale.cu",
    "CompilerOptions": ["-std=c++20", "--use_fast_math"], "ProblemSize": [4096],
    "GridDivX": ["block_size_x", "per_thread"], "SharedMemory": "65536",
    "Arguments": [
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 4096},
      {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "Size": 4096},
      {"Name": "factor", "Type": "float", "MemoryType": "Scalar", "FillValue": 3},
      {"Name": "weights", "Type": "float", "MemoryType": "Symbol", "FillType": "Range", "Size": 8}],
    "Verification": {"Method": "ReferenceKernel", "KernelName": "plain<float>", "GlobalSize": {"X": "64"},
                     "LocalSize": {"X": "64"}, "GlobalSizeType": "CUDA"}}})";

class SpecProgramTest : public testing::Test {
 protected:
  SpecProgramTest() {
    std::ofstream(folder_.File("scale.cu")) << kSource;
    std::ofstream(folder_.File("scale.json")) << kSpecification;
  }

  RecordedMeasurement Measured() const {
    const auto spec =
        std::make_shared<const spec::Specification>(spec::ReadSpecification(folder_.File("scale.json")).value());
    const auto kernel = tune::SpecKernel::Create(spec, nullptr).value();
    device::DeviceProperties device;
    device.name = "NVIDIA H200";
    RecordedMeasurement measured = {.run = tune::MakeSpecRun(*kernel, device),
                                    .config_id = 0x0123456789abcdef,
                                    .config = *codegen::Config::Parse("Config(per_thread=4, block_size_x=64)")};
    measured.row.set_status("ok");
    measured.row.set_perf_ms(0.0125);
    measured.attempt.set_environment_json(R"({"device": {"architecture": "sm_90"}})");
    return measured;
  }

  // Writes the program and its files into the folder.
  ReproProgram Make(ProgramLanguage language, const std::string& name) const {
    const absl::StatusOr<ReproProgram> program =
        MakeSpecProgram(Measured(), folder_.File("scale.json"), language, folder_.File(name));
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return {};
    std::ofstream(program->path) << program->text;
    for (const DataFile& file : program->files) std::ofstream(file.path) << file.bytes;
    return *program;
  }

  const TempFolder folder_;
};

TEST_F(SpecProgramTest, ACudaKernelIsAProgramInCpp) {
  const ReproProgram program = Make(ProgramLanguage::kCpp, "scale.cpp");
  EXPECT_THAT(program.command, HasSubstr("-lnvrtc -lcuda"));
  EXPECT_THAT(program.files, ElementsAre(Field(&DataFile::path, folder_.File("scale.1.bin"))));
  EXPECT_THAT(program.files[0].bytes, SizeIs(4096 * 4));
  EXPECT_THAT(program.text, HasSubstr("\"scale<float, per_thread>\",\n    {\"--gpu-architecture=sm_90a\", "
                                      "\"-default-device\", \"-std=c++20\", \"--use_fast_math\"},\n    {16, 1, 1},\n"
                                      "    {64, 1, 1},\n    65536,\n"));
  EXPECT_THAT(program.text, HasSubstr("{\"weights\", kVariable, "));
  EXPECT_THAT(program.text, Not(HasSubstr("??")));
  // The declarations of the toolkit's functions that the program uses, for machines without it.
  const std::string command = "g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I " + TestdataDir() +
                              "/../worker/wrapper/program/cuda_headers " + program.path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(SpecProgramTest, ACudaKernelIsAProgramInPython) {
  const ReproProgram program = Make(ProgramLanguage::kPython, "scale.py");
  EXPECT_EQ(program.command, "python3 " + folder_.File("scale.py"));
  EXPECT_THAT(program.text, HasSubstr("import cupy"));
  EXPECT_THAT(program.text, Not(HasSubstr("pyopencl")));
  const std::string command = "python3 -W error -m py_compile " + program.path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(SpecProgramTest, TheRunMustBeOfTheSpecification) {
  const RecordedMeasurement measured = Measured();
  std::ofstream(folder_.File("scale.cu"), std::ios::app) << "// a comment\n";
  EXPECT_TRUE(MakeSpecProgram(measured, folder_.File("scale.json"), ProgramLanguage::kCpp).ok());
  std::ofstream(folder_.File("scale.cu"), std::ios::app) << "__device__ int more;\n";
  const absl::Status refused = MakeSpecProgram(measured, folder_.File("scale.json"), ProgramLanguage::kCpp).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("was not measured with"));
}

}  // namespace
}  // namespace telemetry::worker::repro
