#include "worker/ir/type_rules.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using record::Cat;

int DTypeCategory(DType dtype) {
  if (dtype == DType::kBool) return 0;
  return IsInteger(dtype) ? 1 : 2;
}

// Returns the smallest integer dtype that holds the values of both, or nullopt.
std::optional<DType> PromoteIntegers(DType a, DType b) {
  if (IsUnsigned(a) == IsUnsigned(b)) return SizeOf(a) > SizeOf(b) ? a : b;
  const DType with_sign = IsUnsigned(a) ? b : a;
  const size_t unsigned_bytes = SizeOf(IsUnsigned(a) ? a : b);
  if (SizeOf(with_sign) > unsigned_bytes) return with_sign;
  switch (unsigned_bytes) {
    case 1:
      return DType::kI16;
    case 2:
      return DType::kI32;
    case 4:
      return DType::kI64;
    default:
      return std::nullopt;
  }
}

// Returns nullopt if no dtype holds the values of both.
std::optional<DType> PromoteTensors(DType a, DType b) {
  if (a == b) return a;
  if (DTypeCategory(a) != DTypeCategory(b)) return DTypeCategory(a) > DTypeCategory(b) ? a : b;
  if (IsInteger(a)) return PromoteIntegers(a, b);
  return DType::kF32;  // two floating dtypes, neither of which contains the other
}

absl::StatusOr<DType> Promote(Op op, absl::Span<const OperandType> operands) {
  bool any = false;
  DType result = DType::kBool;
  const auto add = [&](DType dtype) {
    const std::optional<DType> both = any ? PromoteTensors(result, dtype) : dtype;
    if (!both.has_value()) {
      return absl::InvalidArgumentError(Cat(BaseName(op), " of ", ShortName(result), " and ", ShortName(dtype),
                                            ": no dtype holds the values of both; convert one of them"));
    }
    result = *both;
    any = true;
    return absl::OkStatus();
  };
  for (const OperandType& operand : operands) {
    if (!operand.is_number) RETURN_IF_ERROR(add(operand.dtype));
  }
  const bool any_tensor = any;
  for (const OperandType& operand : operands) {
    if (!operand.is_number) continue;
    if (any_tensor && DTypeCategory(operand.dtype) <= DTypeCategory(result)) continue;
    if (any_tensor) {
      result = operand.dtype;
    } else {
      RETURN_IF_ERROR(add(operand.dtype));
    }
  }
  return result;
}

absl::Status Refuse(Op op, DType dtype, std::string_view remedy) {
  return absl::InvalidArgumentError(Cat(BaseName(op), " of ", ShortName(dtype), " is not supported: ", remedy));
}

bool IsFloatFunction(Op op) { return op >= Op::kExp && op <= Op::kCos; }

}  // namespace

absl::StatusOr<PointwiseType> TypeOfPointwise(Op op, absl::Span<const OperandType> operands) {
  ASSIGN_OR_RETURN(DType common, Promote(op, operands));
  if (IsLogic(op)) {
    if (common != DType::kBool)
      return Refuse(op, common, "the operands must be bool, such as the results of comparisons");
    return PointwiseType{common, common};
  }
  if (IsComparison(op)) return PointwiseType{common, DType::kBool};
  if (op == Op::kWhere) return PointwiseType{common, common};
  if (IsFloatFunction(op)) {
    if (!IsFloat(common)) common = DType::kF32;
    return PointwiseType{common, common};
  }
  if (op == Op::kDiv && !IsFloat(common)) return Refuse(op, common, "convert one side to f32 first");
  if (common == DType::kBool) return Refuse(op, common, "convert to i32 first");
  return PointwiseType{common, common};
}

int Arity(Op op) {
  if (op == Op::kWhere) return 3;
  if (op == Op::kNot || op == Op::kConvert || (op >= Op::kNeg && op <= Op::kCos)) return 1;
  return 2;
}

bool CanCombine(DType a, DType b) { return a == b || (IsFloat(a) && IsFloat(b)); }

DType TypeOfReduction(Op op, DType input) {
  if (op == Op::kArgMax) return DType::kI32;
  if (IsFloat(input)) return DType::kF32;
  const bool is_sum = op == Op::kSum || op == Op::kProd;
  const bool fits_i32 = SizeOf(input) < sizeof(int32_t);
  return is_sum && fits_i32 ? DType::kI32 : input;
}

double NeutralValue(Op op, DType input) {
  using Float = std::numeric_limits<double>;
  switch (op) {
    case Op::kAMax:
    case Op::kArgMax:
      return IsFloat(input) ? -Float::infinity() : SmallestInteger(input);
    case Op::kAMin:
      return IsFloat(input) ? Float::infinity() : LargestInteger(input);
    case Op::kProd:
      return 1;
    default:
      return 0;
  }
}

bool HasAxis(const std::vector<int>& shape, int axis) {
  return std::find(shape.begin(), shape.end(), axis) != shape.end();
}

std::vector<int> UnionOfAxes(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> result = a;
  for (int axis : b) {
    if (!HasAxis(result, axis)) result.push_back(axis);
  }
  return result;
}

std::vector<int> WithoutAxis(std::vector<int> shape, int axis) {
  shape.erase(std::remove(shape.begin(), shape.end(), axis), shape.end());
  return shape;
}

bool SameAxes(const std::vector<int>& a, const std::vector<int>& b) {
  return a.size() == b.size() && AxisNotIn(a, b) == -1;
}

int AxisNotIn(const std::vector<int>& inner, const std::vector<int>& outer) {
  for (int axis : inner) {
    if (!HasAxis(outer, axis)) return axis;
  }
  return -1;
}

}  // namespace telemetry::worker::ir
