#include "worker/runtime/call_contract.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::runtime {

using record::Cat;

namespace {

// Returns the argument without its captures, which are separate leaves, and without any tensor's memory.
Argument AsConstant(const Argument& argument) {
  const FunctionRef* function = argument.As<FunctionRef>();
  return function == nullptr ? argument : Argument::OfFunction(function->name, function->identity);
}

bool IsSameConstant(const Argument& bound, const Argument& given) {
  const FunctionRef* function = given.As<FunctionRef>();
  if (function == nullptr) return bound == given;
  return bound.As<FunctionRef>() != nullptr && bound.As<FunctionRef>()->identity == function->identity;
}

int64_t Bucket(int64_t size) { return std::min<int64_t>(size, 2); }

bool SameBuckets(const Dimensions& a, const Dimensions& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](int64_t one, int64_t other) { return Bucket(one) == Bucket(other); });
}

int AccessedTensor(const ir::Graph& graph, const ir::Node& node) {
  const auto* ref = node.args.empty() ? nullptr : std::get_if<ir::NodeRef>(&node.args[0].value);
  return ref == nullptr ? -1 : graph.at(*ref).tensor;
}

}  // namespace

int64_t EvaluateSize(const ir::Size& size, const Leaves& leaves) {
  if (size.is_static || size.tensor < 0) return size.value;
  return leaves.tensors[static_cast<size_t>(size.tensor)]->sizes[static_cast<size_t>(size.dimension)];
}

CallContract::CallContract(const ir::DeviceIr& ir, const Leaves& leaves, bool static_shapes, ExtraKeys extra_keys)
    : static_shapes_(static_shapes), extra_keys_(std::move(extra_keys)), kernel_name_(ir.kernel_name) {
  for (size_t i = 0; i < leaves.tensors.size(); ++i) {
    const Tensor& tensor = *leaves.tensors[i];
    tensor_names_.push_back(ir.tensors[i].name);
    tensors_.push_back({.dtype = tensor.dtype, .sizes = tensor.sizes, .strides = tensor.strides});
  }
  for (size_t i = 0; i < leaves.scalars.size(); ++i) {
    scalar_names_.push_back(ir.scalars[i].name);
    scalar_types_.push_back(TypeOf(*leaves.scalars[i]));
  }
  for (const Argument* constant : leaves.constants) constants_.push_back(AsConstant(*constant));
  AddGuards(ir);
}

void CallContract::AddGuards(const ir::DeviceIr& ir) {
  std::set<std::tuple<int, size_t, int>> seen;
  for (const ir::Graph& graph : ir.graphs) {
    for (const ir::Node& node : graph.nodes) {
      if (node.op != ir::Op::kLoad && node.op != ir::Op::kStore) continue;
      const int tensor = AccessedTensor(graph, node);
      if (tensor < 0) continue;
      const std::vector<ir::Index> indices = ir::ReadIndices(graph, node);
      for (size_t dimension = 0; dimension < indices.size(); ++dimension) {
        const int axis = indices[dimension].axis;
        if (indices[dimension].kind != ir::Index::Kind::kAxis || !seen.emplace(tensor, dimension, axis).second)
          continue;
        AddGuard(ir.tensors[static_cast<size_t>(tensor)], dimension, ir.axes[static_cast<size_t>(axis)].extent);
      }
    }
  }
}

void CallContract::AddGuard(const ir::HostTensor& tensor, size_t dimension, const ir::Size& extent) {
  const ir::Size& size = tensor.sizes[dimension];
  const bool same_size = size.tensor >= 0 && size.tensor == extent.tensor && size.dimension == extent.dimension;
  const bool always_holds = size.is_static && extent.is_static && size.value >= extent.value;
  if (same_size || always_holds) return;
  guards_.push_back({.tensor = tensor.name, .dimension = dimension, .size = size, .extent = extent});
}

absl::Status CallContract::Differs(const std::string& name, const std::string& how) const {
  return absl::InvalidArgumentError(Cat(kernel_name_, "(): argument '", name, "' ", how));
}

absl::Status CallContract::Check(const Leaves& leaves) const {
  if (leaves.tensors.size() != tensors_.size() || leaves.scalars.size() != scalar_types_.size() ||
      leaves.constants.size() != constants_.size()) {
    return absl::InvalidArgumentError(
        Cat(kernel_name_, "(): the arguments have another structure than those that the kernel was bound for"));
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& bound = tensors_[i];
    const Tensor& given = *leaves.tensors[i];
    const bool same_layout = static_shapes_
                                 ? bound.sizes == given.sizes && bound.strides == given.strides
                                 : SameBuckets(bound.sizes, given.sizes) && given.strides.size() == given.sizes.size();
    if (same_layout && bound.dtype == given.dtype) continue;
    return Differs(tensor_names_[i], Cat("is ", given.ToString(), ", but the code is for ", bound.ToString()));
  }
  for (size_t i = 0; i < scalar_types_.size(); ++i) {
    if (scalar_types_[i] == TypeOf(*leaves.scalars[i])) continue;
    return Differs(scalar_names_[i], Cat("is now a number of another type, ", leaves.scalars[i]->TypeName(), " (",
                                         ShortName(leaves.scalars[i]->scalar_dtype()), ")"));
  }
  for (size_t i = 0; i < constants_.size(); ++i) {
    if (IsSameConstant(constants_[i], *leaves.constants[i])) continue;
    return absl::InvalidArgumentError(Cat(kernel_name_, "(): a constant (", constants_[i].TypeName(),
                                          ") has another value than the one in the code"));
  }
  if (!extra_keys_.Match(leaves)) {
    return absl::InvalidArgumentError(
        Cat(kernel_name_, "(): the code is only for arguments with ", extra_keys_.ToString()));
  }
  return CheckExtents(leaves);
}

absl::Status CallContract::CheckExtents(const Leaves& leaves) const {
  for (const Tensor* tensor : leaves.tensors) {
    const auto needed = static_cast<uint64_t>(tensor->span()) * SizeOf(tensor->dtype);
    const bool is_enough = tensor->buffer != nullptr
                               ? needed <= tensor->buffer->size_bytes()
                               : tensor->host != nullptr && needed <= tensor->host->data.size() * SizeOf(tensor->dtype);
    if (is_enough) continue;
    RETURN_IF_ERROR(CheckTensor(*tensor));
  }
  for (const Guard& guard : guards_) {
    const int64_t size = EvaluateSize(guard.size, leaves);
    const int64_t extent = EvaluateSize(guard.extent, leaves);
    if (size >= extent) continue;
    return Differs(guard.tensor,
                   Cat("has ", size, " elements along dimension ", guard.dimension, ", where ", extent, " are read"));
  }
  return absl::OkStatus();
}

Dimensions CallContract::ComputeSizes(const ir::HostTensor& tensor, const Leaves& leaves) {
  Dimensions sizes;
  for (const ir::Size& size : tensor.sizes) sizes.push_back(EvaluateSize(size, leaves));
  return sizes;
}

}  // namespace telemetry::worker::runtime
