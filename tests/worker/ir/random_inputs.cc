#include "tests/worker/ir/random_inputs.h"

#include <utility>

#include "proto/record/strings.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

std::vector<int64_t> RandomStrides(const std::vector<int64_t>& sizes, Rng* rng) {
  std::vector<int64_t> strides = RowMajorStrides(sizes);
  if (sizes.empty() || rng->OneIn(2)) return strides;
  // Makes a random memory order: a permutation of the dimensions, possibly with a step in the innermost one and gaps
  // between rows.
  std::vector<size_t> order(sizes.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (rng->OneIn(2)) rng->Shuffle(&order);
  int64_t step = rng->OneIn(3) ? 2 : 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= sizes[order[i]];
    if (rng->OneIn(3)) step += rng->Between(1, 3);
  }
  return strides;
}

double RandomElement(const PlannedTensor& plan, Rng* rng) {
  if (plan.below > 0) return static_cast<double>(rng->Below(plan.below));
  if (plan.dtype == DType::kBool) return static_cast<double>(rng->Below(2));
  if (IsUnsigned(plan.dtype)) return static_cast<double>(rng->Below(kLargestIntegerInput));
  if (IsInteger(plan.dtype)) return static_cast<double>(rng->Between(-kLargestIntegerInput, kLargestIntegerInput));
  return rng->Real(-kLargestInput, kLargestInput);
}

Size MakeSize(int64_t value, std::string symbol, bool symbolic, int tensor, int dimension) {
  Size size = {.text = symbolic ? std::move(symbol) : record::Cat(value), .value = value, .is_static = !symbolic};
  if (symbolic) {
    size.tensor = tensor;
    size.dimension = dimension;
  }
  return size;
}

}  // namespace

HostArray RandomArray(const PlannedTensor& plan, Rng* rng) {
  HostArray array = HostArray::Strided(plan.dtype, plan.sizes, RandomStrides(plan.sizes, rng));
  std::vector<double> values(static_cast<size_t>(array.element_count()));
  for (double& value : values) value = RandomElement(plan, rng);
  array.SetRowMajor(values);
  return array;
}

HostTensor Describe(const PlannedTensor& plan, const HostArray& array, int tensor, bool symbolic) {
  HostTensor described = {.name = plan.name, .dtype = plan.dtype};
  for (size_t d = 0; d < array.sizes.size(); ++d) {
    const int dimension = static_cast<int>(d);
    described.sizes.push_back(MakeSize(array.sizes[d], record::Cat("s", tensor, d), symbolic, tensor, dimension));
    described.strides.push_back(MakeSize(array.strides[d], record::Cat("t", tensor, d), symbolic, tensor, dimension));
  }
  return described;
}

}  // namespace telemetry::worker::ir
