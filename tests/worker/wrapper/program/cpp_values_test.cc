// Tests runtime/values.cpp and runtime/check.cpp over a device that only keeps the uploaded bytes.

#include <bit>
#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "worker/ir/half.h"
#include "worker/ir/host_array.h"
#include "worker/kernels/draw.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper::program {
namespace {

using device::DType;

constexpr char kHead[] = R"(
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>
const uint64_t kSeed = 12345;
)";

constexpr char kDevice[] = R"(
struct Buffer {
  DType dtype;
};
std::vector<unsigned char> uploaded;
Buffer Allocate(DType dtype, int64_t) { return {dtype}; }
void Upload(Buffer, const std::vector<unsigned char>& bytes) { uploaded = bytes; }
std::vector<unsigned char> Download(Buffer, int64_t) { return uploaded; }
void PrintBytes(const std::vector<unsigned char>& bytes) {
  for (const unsigned byte : bytes) std::printf("%02x", byte);
  std::printf("\n");
}
)";

std::string CompileAndRun(const std::string& main) {
  const TestFolder folder;
  const std::string text = std::string(kHead) + std::string(RuntimeText("values.cpp")) + kDevice +
                           std::string(RuntimeText("check.cpp")) + "int main() {\n" + main + "}\n";
  WriteText(folder.path() + "/values.cpp", text);
  const ShellOutcome compiled =
      Shell(folder, "g++ -std=c++17 -O1 -Wall -Wextra -Werror -fsanitize=undefined,address values.cpp -o values");
  EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
  return Shell(folder, "./values").output;
}

TEST(CppValuesTest, DrawsTheLibrarysBits) {
  std::string main;
  std::string expected;
  Random random(12345);
  const std::pair<DType, const char*> dtypes[] = {
      {DType::kF32, "F32"}, {DType::kF16, "F16"}, {DType::kBF16, "BF16"}, {DType::kI32, "I32"}, {DType::kBool, "BOOL"}};
  for (const auto& [dtype, word] : dtypes) {
    const kernels::DrawRange range = {.low = IsFloat(dtype) ? -0.125 : -7, .high = 3};
    const ir::HostArray drawn{
        .dtype = dtype, .sizes = {1000}, .strides = {1}, .data = kernels::Draw(dtype, range, 1000, random)};
    expected += Hex(ir::ToBytes(drawn)) + "\n";
    main +=
        std::string("  Input(") + word + ", 1000, " + std::to_string(range.low) + ", 3);\n  PrintBytes(uploaded);\n";
  }
  EXPECT_EQ(CompileAndRun(main), expected);
}

// Checks numbers of every magnitude, including those halfway between two neighbours.
TEST(CppValuesTest, RoundsAsTheLibraryDoes) {
  std::vector<double> values = {0.0,     -0.0,     1e300,    -1e300,   INFINITY,   -INFINITY,
                                65504,   65519.9,  65520.0,  0x1p-24,  0x1p-25,    0x1.8p-25,
                                0x1p-14, 0x1p-126, 0x1p-133, 0x1p-134, 0x1.fep127, 0x1.ffp127};
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const double number = std::ldexp(static_cast<double>(random() >> 11), -53);
    values.push_back(std::ldexp(number, static_cast<int>(random() % 60) - 35));
    values.push_back(-std::ldexp(std::round(std::ldexp(number, 12)), -12 + static_cast<int>(random() % 50) - 30));
  }
  std::string main = "  std::vector<double> values;\n  for (const uint64_t bits : std::vector<uint64_t>{";
  for (const double value : values) main += std::to_string(std::bit_cast<uint64_t>(value)) + "ull, ";
  main += "0}) values.push_back(Get<double>((const unsigned char*)&bits));\n  values.pop_back();\n";
  std::string expected;
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    ir::HostArray array{.dtype = dtype, .sizes = {static_cast<int64_t>(values.size())}, .strides = {1}, .data = values};
    expected += Hex(ir::ToBytes(array)) + "\n";
    main += std::string("  PrintBytes(Encode(") + (dtype == DType::kF16 ? "F16" : "BF16") + ", values));\n";
  }
  // Checks the reverse: encoding the value of each bit pattern gives the same bit pattern.
  main += R"(
  for (const DType dtype : {F16, BF16}) {
    int others = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const uint16_t half = uint16_t(bits);
      const double value = Decode(dtype, (const unsigned char*)&half);
      if (!std::isnan(value) && ToHalf(value, HalfOf(dtype)) != half) ++others;
    }
    std::printf("%d\n", others);
  }
)";
  EXPECT_EQ(CompileAndRun(main), expected + "0\n0\n");
}

TEST(CppValuesTest, ReadsWhatLiesWithGaps) {
  EXPECT_EQ(CompileAndRun(R"(
  Upload({I32}, Encode(I32, {0, 1, 2, 3, 4, 5, 6}));
  for (const double value : ValuesOf({{I32}, {{2, 3}, {1, 2}}})) std::printf("%g ", value);
  for (const double value : ValuesOf({{I32}, {{}, {}}})) std::printf("scalar %g ", value);
  std::printf("%zu\n", ValuesOf({{I32}, {{2, 0}, {1, 1}}}).size());
)"),
            "0 2 4 1 3 5 scalar 0 0\n");
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
