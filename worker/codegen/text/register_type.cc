#include "worker/codegen/text/register_type.h"

#include <limits>

#include "proto/record/strings.h"
#include "worker/codegen/text/dialect.h"

namespace telemetry::worker::codegen::text {

using device::DType;
using record::Cat;

RegisterType RegisterOf(DType dtype) {
  if (device::IsFloat(dtype)) return RegisterType::kFloat;
  switch (dtype) {
    case DType::kU32:
      return RegisterType::kUnsigned;
    case DType::kI64:
      return RegisterType::kLong;
    case DType::kU64:
      return RegisterType::kUnsignedLong;
    default:
      return RegisterType::kInt;
  }
}

int64_t RegisterBytes(RegisterType type) {
  return type == RegisterType::kLong || type == RegisterType::kUnsignedLong ? 8 : 4;
}

std::string_view TypeName(RegisterType type) {
  switch (type) {
    case RegisterType::kFloat:
      return "float";
    case RegisterType::kInt:
      return "int";
    case RegisterType::kUnsigned:
      return "u32";
    case RegisterType::kLong:
      return "i64";
    case RegisterType::kUnsignedLong:
      return "unsigned long";
  }
  return "";
}

std::string_view TypeLetter(RegisterType type) {
  constexpr std::string_view kLetters = "fiulm";
  return kLetters.substr(static_cast<size_t>(type), 1);
}

std::string ArithmeticText(RegisterType type, const std::string& x, std::string_view sign, const std::string& y) {
  switch (type) {
    case RegisterType::kInt:
      return Cat("(int)((u32)", x, " ", sign, " (u32)", y, ")");
    case RegisterType::kLong:
      return Cat("(i64)((unsigned long)", x, " ", sign, " (unsigned long)", y, ")");
    default:
      return Cat(x, " ", sign, " ", y);
  }
}

std::string NarrowedText(DType dtype, const std::string& x) {
  switch (dtype) {
    case DType::kI8:
      return Cat("(int)(signed char)(", x, ")");
    case DType::kI16:
      return Cat("(int)(short)(", x, ")");
    case DType::kU8:
      return Cat("((", x, ") & 255)");
    case DType::kU16:
      return Cat("((", x, ") & 65535)");
    default:
      return x;
  }
}

std::string LiteralText(RegisterType type, double number) {
  if (type == RegisterType::kFloat) return DialectText::FloatLiteral(number);
  if (type == RegisterType::kUnsignedLong && number >= 0x1p63) {
    return Cat(number >= 0x1p64 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(number), "u");
  }
  const int64_t largest = std::numeric_limits<int64_t>::max();
  return LiteralText(type, number >= 0x1p63 ? largest : static_cast<int64_t>(number));
}

std::string LiteralText(RegisterType type, int64_t number) {
  switch (type) {
    case RegisterType::kFloat:
      return DialectText::FloatLiteral(static_cast<double>(number));
    case RegisterType::kUnsigned:
      return Cat(static_cast<uint32_t>(number), "u");
    case RegisterType::kUnsignedLong:
      return Cat("(unsigned long)", static_cast<uint64_t>(number), "u");
    case RegisterType::kLong:
      // C has no literal for the smallest number.
      if (number == std::numeric_limits<int64_t>::min()) return "(-(i64)9223372036854775807 - 1)";
      return number < 0 ? Cat("(-(i64)", -number, ")") : Cat("(i64)", number);
    case RegisterType::kInt:
      break;
  }
  if (number == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
  return number < 0 ? Cat("(", number, ")") : std::to_string(number);
}

}  // namespace telemetry::worker::codegen::text
