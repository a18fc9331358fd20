#include "worker/wrapper/run_memory.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/wrapper/size_class.h"

namespace telemetry::worker::wrapper {

using record::Cat;
using runtime::Dimensions;
using runtime::Tensor;

absl::Status RunMemory::TakeInputs(absl::Span<const Tensor> inputs) {
  memory_ = std::vector<Tensor>(plan_.buffers.size());
  if (inputs.size() != plan_.inputs.size()) {
    return absl::InvalidArgumentError(Cat("plan '", plan_.name, "' has ", record::Counted(plan_.inputs.size(), "input"),
                                          ", but ", inputs.size(), " are given"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanBuffer& wanted = plan_.buffer(plan_.inputs[i]);
    const Tensor& given = inputs[i];
    absl::Status status = CheckTensor(given);
    const bool fits = given.dtype == wanted.dtype &&
                      given.sizes == Dimensions(wanted.sizes.begin(), wanted.sizes.end()) &&
                      given.strides == Dimensions(wanted.strides.begin(), wanted.strides.end()) &&
                      (given.device == device_ ||
                       (given.device == nullptr && is_scalar_input_[static_cast<size_t>(plan_.inputs[i])]));
    if (status.ok() && !fits) status = absl::InvalidArgumentError(Cat("is ", given.ToString()));
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          Cat("plan '", plan_.name, "', input '", wanted.name, "' (", wanted.LayoutText(), "): ", status.message()));
    }
    memory_[static_cast<size_t>(plan_.inputs[i])] = given;
  }
  if (layout_.bytes > 0) {
    ASSIGN_OR_RETURN(block_, pool_->Block(layout_.bytes));
  }
  return absl::OkStatus();
}

void RunMemory::Clear() {
  memory_.clear();
  block_.reset();
}

absl::Status RunMemory::Update(const Line& line) {
  const LineEffects effects = ComputeEffects(line);
  if (const auto* reuse = std::get_if<Reuse>(&line)) {
    memory_[static_cast<size_t>(reuse->to)] = std::move(memory_[static_cast<size_t>(reuse->from)]);
  } else {
    for (const int id : effects.makes) {
      RETURN_IF_ERROR(AllocateFor(id, SizeClass(plan_.buffer(id).bytes())));
    }
  }
  if (effects.frees >= 0) {
    memory_[static_cast<size_t>(effects.frees)].buffer.reset();
    memory_[static_cast<size_t>(effects.frees)].host.reset();
  }
  return absl::OkStatus();
}

absl::Status RunMemory::AllocateFor(int buffer, int64_t bytes) {
  const device::DType dtype = plan_.buffer(buffer).dtype;
  const int64_t elements = bytes / static_cast<int64_t>(SizeOf(dtype));
  Tensor& memory = memory_[static_cast<size_t>(buffer)];
  if (device_ == nullptr) {
    memory = Tensor::OnHost(ir::HostArray::Dense(dtype, {elements}));
    return absl::OkStatus();
  }
  if (const int64_t offset = OffsetInBlock(buffer); offset >= 0) {
    memory = {.dtype = dtype, .sizes = {elements}, .strides = {1}, .device = device_};
    ASSIGN_OR_RETURN(memory.buffer,
                     device_->View(block_.get(), static_cast<size_t>(offset), static_cast<size_t>(bytes)));
  } else {
    ASSIGN_OR_RETURN(memory, runtime::AllocateTensor(device_, dtype, {elements}));
  }
  return fills_ && elements > 0 ? device_->Fill(memory.buffer.get(), 0xff) : absl::OkStatus();
}

absl::StatusOr<Tensor> RunMemory::MakeTensor(int buffer) const {
  const PlanBuffer& layout = plan_.buffer(buffer);
  const Place& place = places_[static_cast<size_t>(buffer)];
  const Tensor& memory = memory_[static_cast<size_t>(place.root)];
  if (memory.host != nullptr) {
    const auto first = memory.host->data.begin() + static_cast<std::ptrdiff_t>(place.offset);
    return Tensor::OnHost({.dtype = layout.dtype,
                           .sizes = layout.sizes,
                           .strides = layout.strides,
                           .data = {first, first + static_cast<std::ptrdiff_t>(layout.span())}});
  }
  Tensor tensor{.dtype = layout.dtype,
                .sizes = Dimensions(layout.sizes.begin(), layout.sizes.end()),
                .strides = Dimensions(layout.strides.begin(), layout.strides.end()),
                .device = device_,
                .buffer = memory.buffer};
  if (place.offset == 0) return tensor;
  // A device has no views of views.
  const int64_t in_block = OffsetInBlock(place.root);
  const device::Buffer* whole = in_block < 0 ? memory.buffer.get() : block_.get();
  const auto offset_bytes =
      static_cast<size_t>(std::max<int64_t>(in_block, 0)) + static_cast<size_t>(place.offset) * SizeOf(layout.dtype);
  ASSIGN_OR_RETURN(auto view, device_->View(whole, offset_bytes, static_cast<size_t>(layout.bytes())));
  tensor.buffer = std::move(view);
  return tensor;
}

absl::StatusOr<std::vector<Tensor>> RunMemory::MakeTensors(absl::Span<const int> buffers) const {
  std::vector<Tensor> tensors;
  for (const int id : buffers) {
    ASSIGN_OR_RETURN(Tensor tensor, MakeTensor(id));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<std::vector<ir::HostArray>> RunMemory::DenseArrays(absl::Span<const int> buffers) const {
  ASSIGN_OR_RETURN(std::vector<Tensor> tensors, MakeTensors(buffers));
  std::vector<ir::HostArray> arrays;
  for (const Tensor& tensor : tensors) {
    ASSIGN_OR_RETURN(ir::HostArray array, ToHost(tensor));
    ir::HostArray dense = ir::HostArray::Dense(array.dtype, array.sizes);
    dense.SetRowMajor(array.RowMajor());
    arrays.push_back(std::move(dense));
  }
  return arrays;
}

absl::StatusOr<bool> RunMemory::IsTrue(int predicate) const {
  ASSIGN_OR_RETURN(const Tensor tensor, MakeTensor(predicate));
  ASSIGN_OR_RETURN(const ir::HostArray array, ToHost(tensor));
  return array.data.at(0) != 0;
}

absl::Status RunMemory::Write(int buffer, const ir::HostArray& dense) {
  const Tensor& memory = memory_[static_cast<size_t>(buffer)];
  if (memory.host != nullptr) {
    std::copy(dense.data.begin(), dense.data.end(), memory.host->data.begin());
    return absl::OkStatus();
  }
  const std::vector<std::byte> bytes = ir::ToBytes(dense);
  return bytes.empty() ? absl::OkStatus() : device_->Upload(memory.buffer.get(), 0, bytes);
}

}  // namespace telemetry::worker::wrapper
