#include "worker/runtime/extra_keys.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::runtime {

using record::Cat;

namespace {

// A NaN key matches NaN; otherwise each call with NaN would be traced again.
bool IsSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

absl::StatusOr<ExtraKeys> ExtraKeys::Of(const ir::DeviceIr& ir, const Leaves& leaves, bool static_shapes,
                                        const device::Device* device) {
  ExtraKeys keys(device);
  RETURN_IF_ERROR(keys.AddSizes(ir, leaves));
  RETURN_IF_ERROR(keys.AddScalars(ir, leaves));
  if (!static_shapes) keys.AddUnitStrides(ir, leaves);
  return keys;
}

absl::Status ExtraKeys::AddSizes(const ir::DeviceIr& ir, const Leaves& leaves) {
  for (const ir::Size& size : ir.specialized_sizes) {
    if (size.tensor < 0) continue;  // a constant
    const auto tensor = static_cast<size_t>(size.tensor);
    const auto dimension = static_cast<size_t>(size.dimension);
    if (tensor >= leaves.tensors.size() || dimension >= leaves.tensors[tensor]->sizes.size()) {
      return absl::InternalError(Cat("the IR specialises on '", size.text, "', which is not a size of an argument"));
    }
    sizes_.push_back({tensor, dimension, size.value, Cat(ir.tensors[tensor].name, ".size(", dimension, ")")});
  }
  return absl::OkStatus();
}

absl::Status ExtraKeys::AddScalars(const ir::DeviceIr& ir, const Leaves& leaves) {
  for (const auto& [name, value] : ir.specialized_scalars) {
    const auto found = std::find_if(ir.scalars.begin(), ir.scalars.end(),
                                    [&name = name](const auto& scalar) { return scalar.name == name; });
    const auto scalar = static_cast<size_t>(found - ir.scalars.begin());
    if (scalar >= leaves.scalars.size()) {
      return absl::InternalError(Cat("the IR specialises on '", name, "', which is not an argument"));
    }
    scalars_.push_back({scalar, value, name});
  }
  return absl::OkStatus();
}

void ExtraKeys::AddUnitStrides(const ir::DeviceIr& ir, const Leaves& leaves) {
  for (size_t tensor = 0; tensor < leaves.tensors.size(); ++tensor) {
    const Dimensions& strides = leaves.tensors[tensor]->strides;
    for (size_t dimension = 0; dimension < strides.size(); ++dimension) {
      strides_.push_back(
          {tensor, dimension, strides[dimension] == 1, Cat(ir.tensors[tensor].name, ".stride(", dimension, ")")});
    }
  }
}

bool ExtraKeys::Match(const Leaves& leaves) const {
  return std::all_of(leaves.tensors.begin(), leaves.tensors.end(),
                     [this](const Tensor* tensor) { return device_ == nullptr || tensor->device.get() == device_; }) &&
         std::all_of(
             sizes_.begin(), sizes_.end(),
             [&](const SizeKey& key) { return leaves.tensors[key.tensor]->sizes[key.dimension] == key.value; }) &&
         std::all_of(strides_.begin(), strides_.end(),
                     [&](const UnitStrideKey& key) {
                       return (leaves.tensors[key.tensor]->strides[key.dimension] == 1) == key.is_one;
                     }) &&
         std::all_of(scalars_.begin(), scalars_.end(),
                     [&](const ScalarKey& key) { return IsSame(leaves.scalars[key.scalar]->number(), key.value); });
}

std::string ExtraKeys::ToString() const {
  std::vector<std::string> parts;
  for (const SizeKey& key : sizes_) parts.push_back(Cat(key.text, "=", key.value));
  for (const ScalarKey& key : scalars_) parts.push_back(Cat(key.text, "=", key.value));
  for (const UnitStrideKey& key : strides_) {
    if (key.is_one) parts.push_back(Cat(key.text, "=1"));
  }
  if (device_ != nullptr) parts.push_back(device_->id());
  return absl::StrJoin(parts, ", ");
}

}  // namespace telemetry::worker::runtime
