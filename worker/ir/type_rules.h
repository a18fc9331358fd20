#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// What dtypes and axes operations give: torch's promotion, and broadcasting by axes. Pure functions.

// An operand's dtype as promotion sees it. A number (of C++, or a scalar argument) decides only when it is of a higher
// category than the tensors are: bool, then integers, then floating.
struct OperandType {
  DType dtype = DType::kF32;
  bool is_number = false;
};

struct PointwiseType {
  DType operands = DType::kF32;  // what the operands are promoted to
  DType result = DType::kF32;
};

// Of a pointwise op but kConvert; of kWhere, without its condition. INVALID_ARGUMENT: not for these dtypes.
absl::StatusOr<PointwiseType> TypeOfPointwise(Op op, absl::Span<const OperandType> operands);

// How many arguments a pointwise op takes.
int ArityOf(Op op);

// All floating, all i32, all bool: values of one category need no conversion to be computed with.
bool SameCategory(DType a, DType b);

DType TypeOfReduction(Op op, DType input);
// What elements beyond the end of an axis have to be for a reduction or a dot over it. Positions, for kArgMax, are of
// the largest: the same as kAMax.
double NeutralValue(Op op, DType input);

bool HasAxis(const std::vector<int>& shape, int axis);
// Those of a, then those of b that a lacks.
std::vector<int> UnionOfAxes(const std::vector<int>& a, const std::vector<int>& b);
std::vector<int> WithoutAxis(std::vector<int> shape, int axis);
bool SameAxes(const std::vector<int>& a, const std::vector<int>& b);
// The first axis of `inner` that `outer` lacks; -1: none.
int AxisNotIn(const std::vector<int>& inner, const std::vector<int>& outer);

}  // namespace telemetry::worker::ir
