#include "worker/runtime/trace_inputs.h"

#include <limits>
#include <utility>

#include "proto/record/strings.h"

namespace telemetry::worker::runtime {
namespace {

using device::DType;

// Assigns s0, s1 and so on to sizes and strides that are arguments of the code.
class SizeMaker {
 public:
  explicit SizeMaker(bool all_static) : all_static_(all_static) {}

  ir::Size OfSize(int64_t value, int tensor, int dimension) {
    return Make(value, all_static_ || value < 2, tensor, dimension);
  }
  ir::Size OfStride(int64_t value) { return Make(value, all_static_ || value == 1, -1, -1); }

 private:
  ir::Size Make(int64_t value, bool is_static, int tensor, int dimension) {
    std::string text = is_static ? std::to_string(value) : "s" + std::to_string(symbols_++);
    return {.text = std::move(text), .value = value, .is_static = is_static, .tensor = tensor, .dimension = dimension};
  }

  const bool all_static_;
  int symbols_ = 0;
};

ir::HostTensor MakeHostTensor(const std::string& name, const Tensor& tensor, int index, SizeMaker* maker) {
  ir::HostTensor host{.name = name, .dtype = tensor.dtype};
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    host.sizes.push_back(maker->OfSize(tensor.sizes[i], index, static_cast<int>(i)));
  }
  for (const int64_t stride : tensor.strides) host.strides.push_back(maker->OfStride(stride));
  return host;
}

void AddConstant(const std::string& name, const Argument& argument, ir::TraceInputs* inputs) {
  const auto add = [&](const auto* value) {
    if (value != nullptr) inputs->constants.emplace(name, *value);
  };
  add(argument.As<bool>());
  add(argument.As<int64_t>());
  add(argument.As<double>());
  add(argument.As<std::string>());
  add(argument.As<DType>());
}

}  // namespace

absl::StatusOr<ir::TraceInputs> MakeTraceInputs(const std::string& kernel_name, const LeafNames& names,
                                                const Leaves& leaves, const Settings& settings) {
  ir::TraceInputs inputs{.kernel_name = kernel_name};
  SizeMaker maker(settings.static_shapes);
  for (size_t i = 0; i < leaves.tensors.size(); ++i) {
    const Tensor& tensor = *leaves.tensors[i];
    absl::Status status = CheckTensor(tensor);
    if (status.ok() && settings.index_dtype == IndexDType::kInt32 &&
        tensor.span() > std::numeric_limits<int32_t>::max()) {
      status = absl::InvalidArgumentError("more elements than the setting index_dtype=int32 can count");
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(record::Cat("argument '", names.tensors[i], "': ", status.message()));
    }
    inputs.tensors.push_back(MakeHostTensor(names.tensors[i], tensor, static_cast<int>(i), &maker));
  }
  for (size_t i = 0; i < leaves.scalars.size(); ++i) {
    inputs.scalars.push_back({.name = names.scalars[i], .dtype = leaves.scalars[i]->scalar_dtype()});
    inputs.scalar_values.emplace(names.scalars[i], leaves.scalars[i]->number());
  }
  for (size_t i = 0; i < leaves.constants.size(); ++i) AddConstant(names.constants[i], *leaves.constants[i], &inputs);
  return inputs;
}

}  // namespace telemetry::worker::runtime
