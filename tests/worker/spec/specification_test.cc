#include "worker/spec/specification.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/record/strings.h"
#include "worker/spec/launch_size.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;
using testing::HasSubstr;

// Returns a specification with members in the place of the defaults below.
std::string Spec(const std::string& space, const std::string& kernel) {
  return Cat(R"({"ConfigurationSpace": )", space,
             R"(, "KernelSpecification": {"Language": "OpenCL", "KernelName": "k",)", R"( "KernelFile": "k.cl")",
             kernel.empty() ? "" : ", ", kernel, "}}");
}

constexpr char kSpace[] = R"({"TuningParameters": [
    {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128]", "Default": 64},
    {"Name": "tile", "Type": "int", "Values": "[1, 2]"}]})";
constexpr char kSizes[] = R"("ProblemSize": [1000, 10])";

std::string ErrorOf(const std::string& json) {
  const absl::StatusOr<Specification> spec = ParseSpecification(json, "folder/spec.json");
  return spec.ok() ? "accepted" : std::string(spec.status().message());
}

LaunchSize LaunchOf(const Specification& spec, const std::vector<size_t>& config) {
  const absl::StatusOr<LaunchSize> size = LaunchSizeOf(spec.launch, spec.ValuesAt(config));
  EXPECT_TRUE(size.ok()) << size.status();
  return size.value_or(LaunchSize());
}

TEST(SpecificationTest, ReadsParametersOfAnyType) {
  const absl::StatusOr<Specification> spec = ParseSpecification(Spec(R"({"TuningParameters": [
      {"Name": "n", "Type": "int", "Values": "[2**i for i in range(3)]", "Default": 4},
      {"Name": "f", "Type": "float", "Values": "[0.5, 1.0]"},
      {"Name": "b", "Type": "bool", "Values": [false, true]},
      {"Name": "s", "Type": "string", "Values": "['row', 'column']", "Default": "column"},
      {"Name": "one", "Type": "uint", "Values": "7"}]})",
                                                                     kSizes),
                                                                "folder/spec.json");
  ASSERT_TRUE(spec.ok()) << spec.status();
  ASSERT_EQ(spec->parameters.size(), 5u);
  EXPECT_EQ(Value::List(&spec->parameters[0].values).ToString(), "[1, 2, 4]");
  EXPECT_EQ(Value::List(&spec->parameters[1].values).ToString(), "[0.5, 1.0]");
  EXPECT_EQ(Value::List(&spec->parameters[2].values).ToString(), "[False, True]");
  EXPECT_EQ(Value::List(&spec->parameters[3].values).ToString(), "['row', 'column']");
  EXPECT_EQ(Value::List(&spec->parameters[4].values).ToString(), "[7]");
  EXPECT_EQ(spec->DefaultConfig(), (std::vector<size_t>{2, 0, 0, 1, 0}));
  EXPECT_EQ(spec->folder, "folder");
}

TEST(SpecificationTest, DividesTheProblemSizeAsKernelTuner) {
  const absl::StatusOr<Specification> spec = ParseSpecification(
      Spec(kSpace, Cat(kSizes, R"(, "GridDivX": ["block_size_x", "tile"], "GridDivY": ["tile * 4"])")), "spec.json");
  ASSERT_TRUE(spec.ok()) << spec.status();
  const LaunchSize size = LaunchOf(*spec, {0, 1});
  EXPECT_EQ(size.grid, (std::array<int64_t, 3>{16, 2, 1}));  // ceil(1000 / (32 * 2)), ceil(10 / 8)
  EXPECT_EQ(size.threads, (std::array<int64_t, 3>{32, 1, 1}));
}

TEST(SpecificationTest, DividesByTheBlockSizeByDefault) {
  const absl::StatusOr<Specification> spec = ParseSpecification(Spec(kSpace, kSizes), "spec.json");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(LaunchOf(*spec, {2, 0}).grid, (std::array<int64_t, 3>{8, 10, 1}));
}

TEST(SpecificationTest, CountsTheGlobalSizeInTheUnitOfItsType) {
  const std::string kernel = R"("GlobalSize": {"X": "block_size_x * 10", "Y": "6"}, "LocalSize": {"X": "block_size_x",
      "Y": "2"}, "SharedMemory": "block_size_x * 4")";
  const absl::StatusOr<Specification> threads = ParseSpecification(Spec(kSpace, kernel), "spec.json");
  ASSERT_TRUE(threads.ok()) << threads.status();
  const LaunchSize size = LaunchOf(*threads, {1, 0});
  EXPECT_EQ(size.grid, (std::array<int64_t, 3>{10, 3, 1}));
  EXPECT_EQ(size.threads, (std::array<int64_t, 3>{64, 2, 1}));
  EXPECT_EQ(size.shared_bytes, 256);
  const absl::StatusOr<Specification> blocks =
      ParseSpecification(Spec(kSpace, kernel + R"(, "GlobalSizeType": "CUDA")"), "spec.json");
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  EXPECT_EQ(LaunchOf(*blocks, {1, 0}).grid, (std::array<int64_t, 3>{640, 6, 1}));
}

TEST(SpecificationTest, RefusesALaunchThatDoesNotFit) {
  const absl::StatusOr<Specification> spec = ParseSpecification(
      Spec(kSpace, R"("GlobalSize": {"X": "100"}, "LocalSize": {"X": "block_size_x"})"), "spec.json");
  ASSERT_TRUE(spec.ok()) << spec.status();
  const absl::StatusOr<LaunchSize> size = LaunchSizeOf(spec->launch, spec->ValuesAt({0, 0}));
  EXPECT_THAT(std::string(size.status().message()), HasSubstr("100 ('100') is not a multiple of the local size 32"));
  const LaunchSize large = {.threads = {32, 32, 2}, .shared_bytes = 100};
  EXPECT_EQ(CheckLimits(large, {.threads_per_block = 1024}).message(),
            "2048 threads per block; the device's limit is 1024");
  EXPECT_EQ(CheckLimits(large, {.shared_bytes = 99}).message(), "100 bytes of shared memory; the device's limit is 99");
  EXPECT_EQ(CheckLimits(large, {.threads = {1024, 16, 64}}).message(),
            "32 threads per block in y; the device's limit is 16");
  EXPECT_EQ(CheckLimits({.grid = {1, 1, 65536}}, {.grid = {0, 65535, 65535}}).message(),
            "65536 blocks in z; the device's limit is 65535");
  EXPECT_TRUE(CheckLimits(large, {}).ok());
}

TEST(SpecificationTest, ReadsArguments) {
  const absl::StatusOr<Specification> spec = ParseSpecification(Spec(kSpace, Cat(kSizes, R"(, "Arguments": [
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "max(tile) * ProblemSize[0]"},
      {"Name": "in", "Type": "half4", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "Size": 10,
       "RandomSeed": 5},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1000},
      {"Name": "file", "Type": "uint8", "MemoryType": "Vector", "FillType": "BinaryRaw", "DataSource": "a.npy", "Size": 4},
      {"Name": "buffer", "Type": "double", "MemoryType": "Local", "Size": "128"}])")),
                                                                "spec.json");
  ASSERT_TRUE(spec.ok()) << spec.status();
  const std::vector<Argument>& arguments = spec->arguments;
  ASSERT_EQ(arguments.size(), 5u);
  EXPECT_EQ(arguments[0].elements, 2000);
  EXPECT_TRUE(arguments[0].is_written);
  EXPECT_EQ(arguments[1].values(), 40);
  EXPECT_EQ(arguments[1].type.element, ElementType::kF16);
  EXPECT_EQ(arguments[1].fill.seed, 5u);
  EXPECT_FALSE(arguments[1].is_written);
  EXPECT_EQ(arguments[2].fill.value.ToString(), "1000");
  EXPECT_EQ(arguments[3].fill.kind, Fill::Kind::kNpyFile);
  EXPECT_TRUE(arguments[3].is_written);  // it does not say
  EXPECT_EQ(arguments[4].memory, Argument::Memory::kLocal);
}

TEST(SpecificationTest, ReadsVerification) {
  const std::string kernel = Cat(kSizes, R"(, "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector",
      "AccessType": "WriteOnly", "Size": 4}])");
  const absl::StatusOr<Specification> by_default = ParseSpecification(Spec(kSpace, kernel), "spec.json");
  ASSERT_TRUE(by_default.ok()) << by_default.status();
  EXPECT_EQ(by_default->verification.kind, Verification::Kind::kReferenceConfig);
  EXPECT_EQ(by_default->verification.config, (std::vector<size_t>{1, 0}));
  const absl::StatusOr<Specification> config = ParseSpecification(
      Spec(kSpace, Cat(kernel, R"(, "Verification": {"Config": {"tile": 2}, "RelativeTolerance": 0.5})")), "spec.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->verification.config, (std::vector<size_t>{1, 1}));
  EXPECT_EQ(config->verification.tolerances.relative, 0.5);
  const absl::StatusOr<Specification> reference = ParseSpecification(
      Spec(kSpace, Cat(kernel, R"(, "Verification": {"Method": "ReferenceKernel", "KernelName": "naive",
          "GlobalSize": {"X": "64"}, "LocalSize": {"X": "16"}})")),
      "spec.json");
  ASSERT_TRUE(reference.ok()) << reference.status();
  EXPECT_EQ(reference->verification.kernel_file, "k.cl");
  const absl::StatusOr<Specification> files = ParseSpecification(
      Spec(kSpace, Cat(kernel, R"(, "ReferenceArguments": [{"Name": "r", "TargetName": "out", "FillType": "BinaryRaw",
          "DataSource": "out.bin", "ValidationMethod": "SideBySideComparison", "ValidationThreshold": 0.25}])")),
      "spec.json");
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->verification.kind, Verification::Kind::kFiles);
  EXPECT_EQ(files->verification.expected[0].tolerances->absolute, 0.25);
}

TEST(SpecificationTest, NamesTheMemberOfAnError) {
  const auto with_parameter = [](const std::string& parameter) {
    return Spec(Cat(R"({"TuningParameters": [)", parameter, "]}"), kSizes);
  };
  const auto with_argument = [](const std::string& argument) {
    return Spec(kSpace, Cat(kSizes, R"(, "Arguments": [)", argument, "]"));
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[1]", "expected an object"},
      {"{}", "KernelSpecification: missing; expected an object"},
      {"{", "has no end"},
      {R"({"KernelSpecification": {"Language": "Vulkan", "KernelName": "k", "KernelFile": "k"}})",
       "KernelSpecification.Language: the language 'Vulkan' is not supported"},
      {Spec("{}", kSizes), "ConfigurationSpace.TuningParameters: missing"},
      {Spec(R"({"TuningParameters": []})", kSizes), "there is no parameter to tune"},
      {Spec(kSpace, ""), "KernelSpecification.GlobalSize: missing, and there is no ProblemSize"},
      {Spec(kSpace, R"("ProblemSize": [0])"), "KernelSpecification.ProblemSize: the sizes must be positive integers"},
      {with_parameter(R"({"Name": "a b", "Type": "int", "Values": "[1]"})"),
       "ConfigurationSpace.TuningParameters[0].Name: 'a b' is not a name"},
      {with_parameter(R"({"Name": "not", "Type": "int", "Values": "[1]"})"), "a word of the expression language"},
      {with_parameter(R"({"Name": "a", "Type": "list", "Values": "[1]"})"),
       "TuningParameters[0].Type: unknown type 'list'"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "[1, 2"})"),
       "TuningParameters[0].Values: column 6 of '[1, 2': expected ',', found the end"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "[a]"})"), "unknown name 'a'"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "[]"})"), "Values: the list is empty"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "[1, 1]"})"), "the value 1 is repeated"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "['x']"})"), "the value 'x' is not of the type int"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "[1]", "Default": 2})"),
       "TuningParameters[0].Default: 2 is not one of the values"},
      {with_parameter(R"({"Name": "a", "Type": "int", "Values": "[i for i in range(100000)]"})"),
       "100000 values; the limit is 65536"},
      {with_parameter(
           R"({"Name": "a", "Type": "int", "Values": "[1]"}, {"Name": "a", "Type": "int", "Values": "[1]"})"),
       "TuningParameters[1].Name: two parameters have the name 'a'"},
      {Spec(R"({"TuningParameters": [{"Name": "a", "Type": "int", "Values": "[1]"}],
                "Conditions": [{"Expression": "a > b", "Parameters": ["a"]}]})",
            kSizes),
       "ConfigurationSpace.Conditions[0].Expression: column 5 of 'a > b': unknown name 'b'"},
      {with_argument(R"({"Type": "float3x", "MemoryType": "Vector", "Size": 1})"),
       "Arguments[0].Type: unknown type 'float3x'"},
      {with_argument(R"({"Type": "custom", "MemoryType": "Vector", "Size": 1})"), "the type 'custom' is not supported"},
      {with_argument(R"({"Type": "float", "MemoryType": "Vector"})"),
       "Arguments[0].Size: missing; expected an integer"},
      {with_argument(R"({"Type": "float", "MemoryType": "Vector", "Size": 0})"),
       "expected at least one element, got 0"},
      {with_argument(R"({"Type": "float", "MemoryType": "Vector", "Size": 1000000000000000})"),
       "the limit is 1073741824"},
      {with_argument(R"({"Type": "float", "MemoryType": "Vector", "Size": "tile[9]"})"),
       "index 9 of a list with 2 items"},
      {with_argument(R"({"Type": "float", "MemoryType": "Vector", "Size": 1, "FillType": "Script"})"),
       "Arguments[0].FillType: values of the type 'Script' are not supported"},
      {with_argument(R"({"Type": "float", "MemoryType": "Vector", "Size": 1, "FillType": "BinaryRaw"})"),
       "Arguments[0].DataSource: missing"},
  };
  for (const auto& [json, expected] : cases) EXPECT_THAT(ErrorOf(json), HasSubstr(expected)) << json;
}

TEST(SpecificationTest, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadSpecification("/nonexistent/spec.json").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadSpecification("/dev/zero").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::worker::spec
