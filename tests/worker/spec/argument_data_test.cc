#include "worker/spec/argument_data.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/base/random.h"
#include "tests/temp_folder.h"
#include "worker/spec/npy_header.h"

namespace telemetry::worker::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ElementType kAll[] = {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                                ElementType::kI8,  ElementType::kI16, ElementType::kI32, ElementType::kI64,
                                ElementType::kU8,  ElementType::kU16, ElementType::kU32, ElementType::kU64,
                                ElementType::kBool};

Argument MakeArgument(ElementType type, int64_t elements, Fill fill) {
  return {.name = "x", .type = {type, 1}, .elements = elements, .fill = std::move(fill)};
}

std::vector<double> NumbersOf(const Argument& argument, const std::string& folder = "") {
  const absl::StatusOr<std::vector<std::byte>> bytes = InitialBytes(argument, folder);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<double> numbers;
  for (int64_t i = 0; bytes.ok() && i < argument.values(); ++i) {
    numbers.push_back(NumberAt(*bytes, argument.type.element, static_cast<size_t>(i)));
  }
  return numbers;
}

std::string ErrorOf(const Argument& argument, const std::string& folder = "") {
  return std::string(InitialBytes(argument, folder).status().message());
}

TEST(ArgumentDataTest, FillsEveryType) {
  for (const ElementType type : kAll) {
    EXPECT_THAT(NumbersOf(MakeArgument(type, 2, {.value = Value::Integer(1)})), ElementsAre(1, 1)) << ShortName(type);
    if (type == ElementType::kBool) continue;
    EXPECT_THAT(NumbersOf(MakeArgument(type, 3, {.kind = Fill::Kind::kRange, .value = Value::Integer(3)})),
                ElementsAre(0, 3, 6))
        << ShortName(type);
  }
}

// Large arguments are computed in parts by several threads.
TEST(ArgumentDataTest, PartsYieldTheValuesOfOneSequence) {
  constexpr int64_t kElements = 600'000;
  const Fill fill{.kind = Fill::Kind::kRandom, .value = Value::Integer(1000), .seed = 7};
  Random random(fill.seed);
  std::vector<double> integers;
  for (int64_t i = 0; i < kElements; ++i) integers.push_back(static_cast<double>(random.Below(1000)));
  EXPECT_EQ(NumbersOf(MakeArgument(ElementType::kI32, kElements, fill)), integers);
  random = Random(fill.seed);
  std::vector<double> reals;
  for (int64_t i = 0; i < kElements; ++i) {
    double sum = -6;
    for (int j = 0; j < 12; ++j) sum += random.Real();
    reals.push_back(sum * 1000);
  }
  EXPECT_EQ(NumbersOf(MakeArgument(ElementType::kF64, kElements, fill)), reals);
  EXPECT_THAT(
      ErrorOf(MakeArgument(ElementType::kI32, kElements, {.kind = Fill::Kind::kRange, .value = Value::Integer(5000)})),
      HasSubstr("2147485000 is not a value of the type i32"));
}

TEST(ArgumentDataTest, RandomValuesDependOnTheSeedOnly) {
  const auto random = [](ElementType type, uint64_t seed, Value value) {
    return NumbersOf(MakeArgument(type, 1000, {.kind = Fill::Kind::kRandom, .value = value, .seed = seed}));
  };
  const std::vector<double> numbers = random(ElementType::kF64, 1, Value::Integer(1));
  EXPECT_EQ(numbers, random(ElementType::kF64, 1, Value::Integer(1)));
  EXPECT_NE(numbers, random(ElementType::kF64, 2, Value::Integer(1)));
  double sum = 0;
  double squares = 0;
  for (const double number : numbers) {
    sum += number;
    squares += number * number;
  }
  EXPECT_NEAR(sum / 1000, 0, 0.1);
  EXPECT_NEAR(squares / 1000, 1, 0.15);
  for (const double number : random(ElementType::kU8, 1, Value::Integer(5))) EXPECT_TRUE(number >= 0 && number < 5);
}

TEST(ArgumentDataTest, RefusesValuesThatDoNotFit) {
  EXPECT_EQ(ErrorOf(MakeArgument(ElementType::kU8, 1, {.value = Value::Integer(256)})),
            "the argument 'x': 256 is not a value of the type u8");
  EXPECT_THAT(ErrorOf(MakeArgument(ElementType::kI8, 300, {.kind = Fill::Kind::kRange, .value = Value::Integer(1)})),
              HasSubstr("128 is not a value of the type i8"));
}

TEST(ArgumentDataTest, ReadsFiles) {
  const TempFolder folder;
  const float numbers[] = {1.5F, -2.0F};
  const std::string raw(reinterpret_cast<const char*>(numbers), sizeof numbers);
  std::ofstream(folder.path() + "/a.bin", std::ios::binary) << raw;
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  const std::string npy = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + raw;
  std::ofstream(folder.path() + "/a.npy", std::ios::binary) << npy;
  const auto argument = [](ElementType type, int64_t elements, Fill::Kind kind, const std::string& file) {
    return MakeArgument(type, elements, {.kind = kind, .file = file});
  };
  EXPECT_THAT(NumbersOf(argument(ElementType::kF32, 2, Fill::Kind::kRawFile, "a.bin"), folder.path()),
              ElementsAre(1.5, -2));
  EXPECT_THAT(NumbersOf(argument(ElementType::kF32, 2, Fill::Kind::kNpyFile, "a.npy"), folder.path()),
              ElementsAre(1.5, -2));
  EXPECT_THAT(ErrorOf(argument(ElementType::kF32, 3, Fill::Kind::kRawFile, "a.bin"), folder.path()),
              HasSubstr("a.bin has 8 bytes of data; the argument needs 12"));
  EXPECT_THAT(ErrorOf(argument(ElementType::kI32, 2, Fill::Kind::kNpyFile, "a.npy"), folder.path()),
              HasSubstr("a.npy has elements of f32, the argument has i32"));
  EXPECT_THAT(ErrorOf(argument(ElementType::kF32, 2, Fill::Kind::kNpyFile, "a.bin"), folder.path()),
              HasSubstr("a.bin: not a NumPy file"));
  EXPECT_THAT(ErrorOf(argument(ElementType::kF32, 2, Fill::Kind::kRawFile, "b.bin"), folder.path()),
              HasSubstr("the argument 'x': there is no file 'b.bin' in "));
}

TEST(ArgumentDataTest, RefusesDamagedNumPyHeaders) {
  for (const std::string_view contents :
       {std::string_view("\x93NUMPY"), std::string_view("\x93NUMPY\x01\x00\xff\xff{}  ", 14),
        std::string_view("\x93NUMPY\x01\x00\x02\x00{}", 12),
        std::string_view("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14)}) {
    EXPECT_FALSE(ParseNpyHeader(contents).ok());
  }
}

}  // namespace
}  // namespace telemetry::worker::spec
