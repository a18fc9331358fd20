#include "worker/debug/device_statistics.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "worker/debug/statistics_code.h"

namespace telemetry::worker::debug {
namespace {

using device::Buffer;
using device::Device;
using runtime::Tensor;

template <typename Real>
absl::StatusOr<StatisticsPart> AddUp(Device* device, const Buffer* parts, int64_t blocks, device::DType dtype) {
  std::vector<StatisticsCodePart<Real>> of_blocks(static_cast<size_t>(blocks));
  const absl::Span<std::byte> bytes(reinterpret_cast<std::byte*>(of_blocks.data()),
                                    of_blocks.size() * sizeof(StatisticsCodePart<Real>));
  RETURN_IF_ERROR(device->Download(parts, 0, bytes));
  StatisticsPart all;
  for (const StatisticsCodePart<Real>& part : of_blocks) {
    all.Add({.finite = part.finite,
             .nans = part.nans,
             .infinities = part.infinities,
             .mean = static_cast<double>(part.mean),
             .squares = static_cast<double>(part.squares),
             .minimum = ValueOfOrder(part.minimum, dtype),
             .maximum = ValueOfOrder(part.maximum, dtype)});
  }
  return all;
}

// A tensor's layout with as few dimensions as possible: dimensions of size 1 are removed, and adjacent dimensions
// without a gap between them are merged.
struct Layout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

Layout Simplified(const Tensor& tensor) {
  Layout layout;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 1) continue;
    const bool continues = !layout.sizes.empty() && layout.strides.back() == tensor.strides[d] * tensor.sizes[d];
    if (continues) {
      layout.sizes.back() *= tensor.sizes[d];
      layout.strides.back() = tensor.strides[d];
    } else {
      layout.sizes.push_back(tensor.sizes[d]);
      layout.strides.push_back(tensor.strides[d]);
    }
  }
  return layout;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceStatistics>> DeviceStatistics::Create(std::shared_ptr<Device> device) {
  absl::StatusOr<std::unique_ptr<DeviceStatistics>> wide = CreateWith(device, Sums::kDouble);
  if (wide.ok() || !absl::IsInvalidArgument(wide.status())) return wide;
  return CreateWith(std::move(device), Sums::kFloat);
}

absl::StatusOr<std::unique_ptr<DeviceStatistics>> DeviceStatistics::CreateWith(std::shared_ptr<Device> device,
                                                                               Sums sums) {
  std::unique_ptr<DeviceStatistics> statistics(new DeviceStatistics(std::move(device), sums));
  RETURN_IF_ERROR(statistics->Compile());
  RETURN_IF_ERROR(statistics->AllocateBuffers());
  return statistics;
}

absl::Status DeviceStatistics::Compile() {
  const device::DeviceProperties& properties = device_->properties();
  threads_ = StatisticsThreads(properties.dialect);
  most_blocks_ = int64_t{8} * std::max(1, properties.compute_units);
  ASSIGN_OR_RETURN(const device::CompiledCode code, device_->Compile(StatisticsSource(properties.dialect, sums_)));
  ASSIGN_OR_RETURN(std::unique_ptr<device::Module> module, device_->Load(code));
  ASSIGN_OR_RETURN(std::unique_ptr<device::Function> function, module->GetFunction("tensor_statistics"));
  function_ = std::move(function);
  return absl::OkStatus();
}

absl::Status DeviceStatistics::AllocateBuffers() {
  ASSIGN_OR_RETURN(std::unique_ptr<Buffer> parts,
                   device_->Allocate(static_cast<size_t>(most_blocks_) * sizeof(StatisticsCodePart<double>)));
  ASSIGN_OR_RETURN(std::unique_ptr<Buffer> layout, device_->Allocate(sizeof(int64_t)));
  parts_ = std::move(parts);
  layout_ = std::move(layout);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> DeviceStatistics::Launch(const Tensor& tensor) {
  const Layout layout = Simplified(tensor);
  const auto rank = static_cast<int32_t>(layout.sizes.size());
  if (rank > 1) {
    std::vector<int64_t> numbers = layout.sizes;
    numbers.insert(numbers.end(), layout.strides.begin(), layout.strides.end());
    const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(numbers.data()),
                                            numbers.size() * sizeof(int64_t));
    if (layout_->size_bytes() < bytes.size()) {
      ASSIGN_OR_RETURN(std::unique_ptr<Buffer> larger, device_->Allocate(bytes.size()));
      layout_ = std::move(larger);
    }
    RETURN_IF_ERROR(device_->Upload(layout_.get(), 0, bytes));
  }
  const int64_t elements = tensor.element_count();
  const int64_t blocks = std::min((elements + threads_ - 1) / threads_, most_blocks_);
  const Buffer* memory = tensor.buffer.get();
  const Buffer* const dimensions = layout_.get();
  const Buffer* const parts = parts_.get();
  RETURN_IF_ERROR(function_->Launch({.grid = blocks, .threads = threads_},
                                    {memory, static_cast<int32_t>(tensor.dtype), elements, rank,
                                     rank == 1 ? layout.strides[0] : int64_t{0}, dimensions, parts}));
  return blocks;
}

absl::StatusOr<TensorStatistics> DeviceStatistics::Compute(const Tensor& tensor) {
  if (tensor.element_count() == 0) return StatisticsPart().Whole();
  if (IsInteger(tensor.dtype) && SizeOf(tensor.dtype) == sizeof(int64_t)) {
    // The device's code has extremes of 32 bits.
    ASSIGN_OR_RETURN(const ir::HostArray array, runtime::ToHost(tensor));
    return ComputeStatistics(array.RowMajor());
  }
  ASSIGN_OR_RETURN(const int64_t blocks, Launch(tensor));
  ASSIGN_OR_RETURN(const StatisticsPart all, sums_ == Sums::kDouble
                                                 ? AddUp<double>(device_.get(), parts_.get(), blocks, tensor.dtype)
                                                 : AddUp<float>(device_.get(), parts_.get(), blocks, tensor.dtype));
  return all.Whole();
}

}  // namespace telemetry::worker::debug
