#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// The rules for the dtypes and axes of results: the promotion of torch, and broadcasting by axes. Pure functions.

// The dtype of an operand for promotion. A number (of C++, or a scalar argument) counts only if its category is higher
// than that of the tensors. The categories are bool, then integers, then floating. Two integer dtypes give the smallest
// one that holds the values of both: u8 and i8 give i16. For u64 and a signed dtype there is none.
struct OperandType {
  device::DType dtype = device::DType::kF32;
  bool is_number = false;
};

inline bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }
inline bool IsLogic(Op op) { return op >= Op::kAnd && op <= Op::kNot; }

// The dtypes of a pointwise op.
struct PointwiseType {
  device::DType operands = device::DType::kF32;  // the dtype that the operands are promoted to
  device::DType result = device::DType::kF32;
};

// Returns the dtypes of a pointwise op other than kConvert. For kWhere, `operands` are those without its condition.
// INVALID_ARGUMENT: the op does not support these dtypes.
absl::StatusOr<PointwiseType> TypeOfPointwise(Op op, absl::Span<const OperandType> operands);

// Returns the number of arguments of a pointwise op.
int Arity(Op op);

// Returns true if both are floating, or if they are equal. Such values need no conversion before they are combined.
bool CanCombine(device::DType a, device::DType b);

// Returns the dtype of a reduction: f32 for floats, i32 for positions, and the input's dtype for the largest and the
// smallest integer. Sums and products of integers that an i32 can hold are i32.
device::DType TypeOfReduction(Op op, device::DType input);
// Returns the value that elements beyond the end of an axis must have for a reduction or a dot along it. kArgMax has
// the value of kAMax, because it looks for the largest element.
double NeutralValue(Op op, device::DType input);

bool HasAxis(const std::vector<int>& shape, int axis);
// Returns the axes of a, followed by those of b that a lacks.
std::vector<int> UnionOfAxes(const std::vector<int>& a, const std::vector<int>& b);
std::vector<int> WithoutAxis(std::vector<int> shape, int axis);
bool SameAxes(const std::vector<int>& a, const std::vector<int>& b);
// Returns the first axis of `inner` that `outer` lacks, or -1.
int AxisNotIn(const std::vector<int>& inner, const std::vector<int>& outer);

}  // namespace telemetry::worker::ir
