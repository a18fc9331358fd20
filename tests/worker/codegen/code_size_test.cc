#include "worker/codegen/code_size.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/worker/codegen/dot_kernels.h"
#include "tests/worker/codegen/kernel_case.h"
#include "worker/codegen/emit/generate.h"

namespace telemetry::worker::codegen {
namespace {

// The numbers without the one that every size has.
double Characters(std::string_view source) { return MeasureCodeSize(source).characters - 1; }
double Wgmmas(std::string_view source) { return MeasureCodeSize(source).wgmmas - 1; }
double Elements(std::string_view source) { return MeasureCodeSize(source).elements - 1; }

TEST(CodeSizeTest, CountsTheCharactersOfLines) {
  EXPECT_EQ(Characters(""), 0);
  EXPECT_EQ(Characters("x = 1;\n\n  y = 2;\n"), 12);
  EXPECT_EQ(Characters("if (x) {\n  y = 2;\n} else {\n  y = 3;\n}\n"), 8 + 6 + 8 + 6 + 1);
}

TEST(CodeSizeTest, ALineOfAnUnrolledLoopCountsForEachRepetition) {
  constexpr std::string_view kOfRegisters = "for (int i = 0; i < 32; ++i) {";
  EXPECT_EQ(Characters("UNROLL\nfor (int i = 0; i < 32; ++i) {\n  x[i] = 1;\n}\ny = 2;\n"),
            32 * (kOfRegisters.size() + 9 + 1) + 6);
  EXPECT_EQ(Characters("UNROLL\nfor (int i = 0; i < 4; ++i) x[i] = 1;\n"), 4 * 37);
  EXPECT_EQ(Characters("UNROLL\nfor (int i = 0; i < 32; i += 8) wait();\n"), 4 * 39);
  EXPECT_EQ(Characters("_Pragma(\"unroll 4\")\nfor (int i = 0; i < n; ++i) wait();\n"), 4 * 35);
  EXPECT_EQ(
      Wgmmas("UNROLL\nfor (int i = 0; i < 4; ++i) {\n  UNROLL\n  for (int j = 0; j < 8; ++j) {\n    wgmma_f16_64(v1, "
             "v2, a, b);\n  }\n}\nwgmma_f16_64(v1, v2, a, b);\n"),
      33);
}

// A loop with one call of wgmma, and `before` in the line before it.
std::string Loop(const std::string& before, const std::string& header) {
  return before + "\nfor (" + header + ") {\n  wgmma_f16_8(v1, v2, a, b);\n}\n";
}

TEST(CodeSizeTest, CountsTheRepetitionsOfALoop) {
  EXPECT_EQ(Wgmmas(Loop("UNROLL", "int i = 0; i < 32; ++i")), 32);
  EXPECT_EQ(Wgmmas(Loop("UNROLL", "int i = 2; i < 32; i += 8")), 4);
  EXPECT_EQ(Wgmmas(Loop("UNROLL", "int i = first; i < first + 16; ++i")), 16);
  EXPECT_EQ(Wgmmas(Loop("_Pragma(\"unroll 4\")", "int i = 0; i < n; ++i")), 4);
  EXPECT_EQ(Wgmmas(Loop("_Pragma(\"unroll 4\")", "int i = 0; i < 3; ++i")), 3);
  EXPECT_EQ(Wgmmas(Loop("UNROLL", "int i = 0; i < n; ++i")), 1) << "not a constant";
}

TEST(CodeSizeTest, ALoopThatIsNotUnrolledCountsOnce) {
  EXPECT_EQ(Wgmmas(Loop("", "int i = 0; i < n; ++i")), 1);
  EXPECT_EQ(Wgmmas(Loop("", "int i = 0; i < 64; ++i")), 1);
  EXPECT_EQ(Wgmmas(Loop("", "int i = 0; i < 8; ++i")), 8) << "compilers unroll short loops";
  EXPECT_EQ(Wgmmas(Loop("_Pragma(\"unroll 1\")", "int i = 0; i < 8; ++i")), 1);
}

TEST(CodeSizeTest, TheStepOfALoopIsNotThatOfItsBody) {
  EXPECT_EQ(Characters("UNROLL\nfor (int i = 0; i < 64; ++i) x[i] += 8;\n"), 64 * 39);
}

TEST(CodeSizeTest, CountsCallsOfWgmmaOnly) {
  EXPECT_EQ(Wgmmas("FN void wgmma_f16_8(float* upper) {\n}\nfinish_wgmma_but_1();\nwgmma_f16_8(v1);\n"), 1);
}

TEST(CodeSizeTest, CountsTheElementsOfArrays) {
  EXPECT_EQ(Elements("float v1[32];\n  u32 words[4];\n"), 36);
  EXPECT_EQ(Elements("u32 a[2][4][4];\n"), 32);
  EXPECT_EQ(Elements("v1[3] = v2[4];\nconst float x = v1[32];\nfloat y[N];\nstore(y[3]);\nreturn x[3];\n"), 0);
}

// Users' own code has lines that the generator does not write.
TEST(CodeSizeTest, NumbersOfOtherCodeAreAtLeastOne) {
  EXPECT_EQ(Elements("x = values[first +\n  offset 3];\n];\nint y[-5];\nint z[2]];\n"), 0);
  EXPECT_GE(Characters("_Pragma(\"unroll -3\")\nfor (int i = 0; i < 8; ++i) x[i] = 1;\n"), 37);
}

// Returns the size of the code of a product with blocks of these rows.
CodeSize SizeWithRows(int rows) {
  const KernelCase kernel = MatmulCase(device::DType::kF16, 256, 512, 128);
  const Target target = {.dialect = device::Dialect::kCuda, .sm = 90, .shared_bytes_per_block = 227 << 10};
  const std::string config = "Config(block_sizes=[" + std::to_string(rows) + ", 64, 32])";
  return MeasureCodeSize(emit::Generate(kernel.ir(), kernel.With(config), target).value().source);
}

TEST(CodeSizeTest, GrowsWithTheTileOfAThread) {
  const CodeSize small = SizeWithRows(32);
  const CodeSize large = SizeWithRows(128);
  EXPECT_GT(large.characters, 1.5 * small.characters);
  EXPECT_GT(large.elements, 2 * small.elements);
}

}  // namespace
}  // namespace telemetry::worker::codegen
