#pragma once

#include <string>
#include <string_view>

#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::text {

// The type of a value in the registers of a thread. kInt holds booleans and all integers that an int32 can hold.
enum class RegisterType { kFloat, kInt, kUnsigned, kLong, kUnsignedLong };

RegisterType RegisterOf(device::DType dtype);
inline bool IsFloat(RegisterType type) { return type == RegisterType::kFloat; }
// Returns the size of a register in bytes, 4 or 8.
int64_t RegisterBytes(RegisterType type);

// Returns the name of the type in both dialects: "float", "int", "u32", "i64", "unsigned long".
std::string_view TypeName(RegisterType type);
// Returns a letter that distinguishes the names of functions for each type: "f", "i", "u", "l", "m".
std::string_view TypeLetter(RegisterType type);

// Returns an expression of x + y, x - y or x * y (`sign` is the operator). Integers wrap; signed ones are computed as
// unsigned ones, because signed overflow is undefined in C.
std::string ArithmeticText(RegisterType type, const std::string& x, std::string_view sign, const std::string& y);
// Returns the expression of an integer dtype's value, with the bits beyond the width of the dtype removed. `x` is of
// the dtype's register type.
std::string NarrowedText(device::DType dtype, const std::string& x);

// Returns a literal. Numbers beyond the range of an integer type are the nearest one in it.
std::string LiteralText(RegisterType type, double number);
// Returns a literal of an integer; it wraps to the type.
std::string LiteralText(RegisterType type, int64_t number);

}  // namespace telemetry::worker::codegen::text
