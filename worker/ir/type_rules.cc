#include "worker/ir/type_rules.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/strings.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using record::Cat;

int DTypeCategory(DType dtype) {
  if (dtype == DType::kBool) return 0;
  return dtype == DType::kI32 ? 1 : 2;
}

DType PromoteTensors(DType a, DType b) {
  if (a == b) return a;
  if (DTypeCategory(a) != DTypeCategory(b)) return DTypeCategory(a) > DTypeCategory(b) ? a : b;
  return DType::kF32;  // two floating dtypes, neither of which contains the other
}

DType Promote(absl::Span<const OperandType> operands) {
  bool any = false;
  DType result = DType::kBool;
  for (const OperandType& operand : operands) {
    if (operand.is_number) continue;
    result = any ? PromoteTensors(result, operand.dtype) : operand.dtype;
    any = true;
  }
  for (const OperandType& operand : operands) {
    if (operand.is_number && (!any || DTypeCategory(operand.dtype) > DTypeCategory(result))) {
      result = any ? operand.dtype : PromoteTensors(result, operand.dtype);
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
  DType common = Promote(operands);
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

bool SameCategory(DType a, DType b) { return DTypeCategory(a) == DTypeCategory(b); }

DType TypeOfReduction(Op op, DType input) {
  if (op == Op::kArgMax || !IsFloat(input)) return DType::kI32;
  return DType::kF32;
}

double NeutralValue(Op op, DType input) {
  using Float = std::numeric_limits<double>;
  using Integer = std::numeric_limits<int32_t>;
  switch (op) {
    case Op::kAMax:
    case Op::kArgMax:
      return IsFloat(input) ? -Float::infinity() : Integer::min();
    case Op::kAMin:
      return IsFloat(input) ? Float::infinity() : Integer::max();
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
