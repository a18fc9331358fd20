#include "worker/spec/source_text.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temp_folder.h"
#include "tests/worker/compiler.h"
#include "worker/device/compile_options.h"
#include "worker/spec/config_source.h"
#include "worker/spec/spec_space.h"

namespace telemetry::worker::spec {
namespace {

using testing::HasSubstr;

TEST(SourceTextTest, CommentsAndLayoutDoNotMatter) {
  EXPECT_EQ(NormalizeSource("int  a;// one\n\n\n  int b; /* two\n lines */ int c;\t\n"), "int a;\nint b; int c;\n");
  EXPECT_EQ(NormalizeSource("a/**/b"), "a b\n");
  EXPECT_EQ(NormalizeSource("a // goes on \\\n b\nc"), "a\nc\n");
  EXPECT_EQ(NormalizeSource("x = a /* unclosed"), "x = a\n");
  EXPECT_EQ(NormalizeSource(""), "");
}

TEST(SourceTextTest, StringsAreUnchanged) {
  EXPECT_EQ(NormalizeSource("p(\"//  /* \\\" \")  ; // end"), "p(\"//  /* \\\" \") ;\n");
  EXPECT_EQ(NormalizeSource("c = '\"' ;  d = '\\'';"), "c = '\"' ; d = '\\'';\n");
  EXPECT_EQ(NormalizeSource("R\"x(  // )\" \n)x\"  y"), "R\"x(  // )\" \n)x\" y\n");
  EXPECT_EQ(NormalizeSource("n = 1'000'000;  // digits"), "n = 1'000'000;\n");
}

class SourceFilesTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_.File(name)) << text; }
  std::string Read(const std::vector<std::string>& options = {}) {
    const absl::StatusOr<std::string> text = ReadSource("k.cl", folder_.path(), options);
    return text.ok() ? *text : std::string(text.status().message());
  }
  const TempFolder folder_;
};

TEST_F(SourceFilesTest, IncludesStandInThePlaceOfDirectives) {
  Write("k.cl", "#include \"a.h\"\n#include \"a.h\"\n#include <b.h>\n#include \"missing.h\"\nint k;\n");
  Write("a.h", "#pragma once\nint a;  // once\n");
  EXPECT_EQ(Read(), "int a;\n#include <b.h>\n#include \"missing.h\"\nint k;\n");
}

TEST_F(SourceFilesTest, FindsIncludesInTheFoldersOfOptions) {
  Write("k.cl", "#include \"c.h\"\n");
  std::filesystem::create_directory(folder_.File("inc"));
  Write("inc/c.h", "int c;\n");
  EXPECT_EQ(Read(), "#include \"c.h\"\n");
  EXPECT_EQ(Read({"-Iinc"}), "int c;\n");
  EXPECT_EQ(Read({"-I", "inc"}), "int c;\n");
}

TEST_F(SourceFilesTest, RefusesCyclesAndMissingFiles) {
  Write("k.cl", "#include \"a.h\"\n");
  Write("a.h", "#include \"k.cl\"\n");
  EXPECT_THAT(Read(), HasSubstr("the files include each other"));
  Write("k.cl", "#include \"k.cl\"\n");
  EXPECT_THAT(Read(), HasSubstr("the files include each other"));
  EXPECT_THAT(Read({"-D"}), HasSubstr("the compiler option -D has no value"));
  std::filesystem::remove(folder_.File("k.cl"));
  EXPECT_THAT(Read(), HasSubstr("there is no file 'k.cl'"));
}

// An include that doubles the text in each of its levels.
TEST_F(SourceFilesTest, RefusesTextsThatExplode) {
  Write("k.cl", "#include \"a0.h\"\n");
  for (int i = 0; i < 40; ++i) {
    const std::string next = "#include \"a" + std::to_string(i + 1) + ".h\"\n";
    Write("a" + std::to_string(i) + ".h", next + next);
  }
  Write("a40.h", std::string(1 << 16, 'x') + "\n");
  EXPECT_THAT(Read(), HasSubstr("exceeds 16777216 bytes"));
}

TEST_F(SourceFilesTest, ConfigsBecomeDefines) {
  Write("k.cl", "kernel void k(global t* x) { x[n] = b * f; }\n");
  const absl::StatusOr<Specification> spec = ParseSpecification(R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "n", "Type": "int", "Values": "[1, 2]"}, {"Name": "b", "Type": "bool", "Values": "[False, True]"},
      {"Name": "f", "Type": "float", "Values": "[0.5]"}, {"Name": "t", "Type": "string", "Values": "['float4']"}]},
      "KernelSpecification": {"Language": "OpenCL", "KernelName": "k", "KernelFile": "k.cl", "ProblemSize": [1],
      "CompilerOptions": ["-DA=2", "-DB", "-cl-mad-enable"]}})",
                                                                folder_.File("spec.json"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  const absl::StatusOr<ConfigSource> source = ConfigSource::Create(*spec, spec->kernel_file, spec->kernel_name);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(*source->For(*spec, {1, 1, 0, 0}),
            "// telemetry-option: -cl-mad-enable\n#define A 2\n#define B 1\n#define n 2\n#define b 1\n#define f 0.5\n"
            "#define t float4\nkernel void k(global t* x) { x[n] = b * f; }\n");
}

TEST_F(SourceFilesTest, ParametersThatTheTextCannotNameAreNotDefined) {
  const auto source_of = [this](const std::string& text) {
    Write("k.cl", text);
    const absl::StatusOr<Specification> spec = ParseSpecification(R"({"ConfigurationSpace": {"TuningParameters": [
        {"Name": "n", "Type": "int", "Values": "[1, 2]"}, {"Name": "size", "Type": "string", "Values": "['4 * n', '1']"}]},
        "KernelSpecification": {"Language": "OpenCL", "KernelName": "k", "KernelFile": "k.cl", "ProblemSize": [1]}})",
                                                                  folder_.File("spec.json"));
    const absl::StatusOr<ConfigSource> source = ConfigSource::Create(*spec, spec->kernel_file, spec->kernel_name);
    return *source->For(*spec, {0, 1});
  };
  const std::string both = "#define n 1\n#define size 1\n";
  EXPECT_EQ(source_of("kernel void k(int nn, int size_n) {}\n"), "#define n 1\nkernel void k(int nn, int size_n) {}\n");
  EXPECT_EQ(source_of("int x = size;\n"), both + "int x = size;\n");  // the value of `size` names n
  EXPECT_EQ(source_of("#include <any.h>\n"), both + "#include <any.h>\n");
  EXPECT_EQ(source_of("#define A(b) si##b\n"), both + "#define A(b) si##b\n");
}

TEST_F(SourceFilesTest, CompilesATemplateOfCuda) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  Write("k.cu",
        "#include \"scale.h\"\n__constant__ float factors[4];\n"
        "template <typename T, int N> __global__ void scale(T* x) { x[threadIdx.x] = times(x[threadIdx.x]) * N * "
        "factors[0]; }\n");
  Write("scale.h", "template <typename T> __device__ T times(T x) { return x * SCALE; }\n");
  const absl::StatusOr<Specification> spec = ParseSpecification(R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[32, 64]"}]}, "KernelSpecification": {"Language": "CUDA",
      "KernelName": "scale<float, block_size_x>", "KernelFile": "k.cu", "ProblemSize": [64],
      "CompilerOptions": ["-DSCALE=3", "-std=c++14", "--use_fast_math"]}})",
                                                                folder_.File("spec.json"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  const absl::StatusOr<ConfigSource> source = ConfigSource::Create(*spec, spec->kernel_file, spec->kernel_name);
  ASSERT_TRUE(source.ok()) << source.status();
  const absl::StatusOr<device::CompiledCode> code = device::CompileCuda(*source->For(*spec, {1}), "sm_90");
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_THAT(code->function, HasSubstr("scaleIfLi64E"));
  const absl::StatusOr<device::CompiledCode> wrong =
      device::CompileCuda("// telemetry-kernel: missing\n__global__ void f() {}\n", "sm_90");
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SpecSpaceTest, SearchesSeeTheValidConfigs) {
  absl::StatusOr<Specification> read = ParseSpecification(R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "x", "Type": "int", "Values": "[16, 32, 64]", "Default": 64},
      {"Name": "a", "Type": "string", "Values": "['u', 'v']"}, {"Name": "y", "Type": "int", "Values": "[3, 1, 2]"}],
      "Conditions": [{"Expression": "x < 64 or a == 'v'", "Parameters": []}]},
      "KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k", "ProblemSize": [1]}})",
                                                          "s.json");
  ASSERT_TRUE(read.ok()) << read.status();
  const auto spec = std::make_shared<const Specification>(*std::move(read));
  const absl::StatusOr<codegen::ConfigSpace> space = MakeConfigSpace(spec);
  ASSERT_TRUE(space.ok()) << space.status();
  ASSERT_EQ(space->parameters().size(), 3u);
  EXPECT_EQ(space->parameters()[0].key, "a");
  EXPECT_EQ(space->parameters()[1].kind, codegen::ConfigParameter::Kind::kPowerOfTwo);
  EXPECT_EQ(space->parameters()[2].kind, codegen::ConfigParameter::Kind::kInteger);
  EXPECT_EQ(space->enumeration()->size(), 15);
  // The default config violates the condition, so another one is the default.
  EXPECT_TRUE(space->Normalize(space->Default()).ok());
  EXPECT_FALSE(space->Normalize(*codegen::Config::Parse("Config(x=64, a='u', y=1)")).ok());
  EXPECT_FALSE(space->Normalize(*codegen::Config::Parse("Config(x=48, a='u', y=1)")).ok());
  for (int64_t i = 0; i < 15; ++i) EXPECT_TRUE(space->Normalize(space->enumeration()->At(i)).ok());
}

}  // namespace
}  // namespace telemetry::worker::spec
