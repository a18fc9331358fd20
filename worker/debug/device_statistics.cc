#include "worker/debug/device_statistics.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "proto/record/strings.h"
#include "worker/device/kernel_words.h"

namespace telemetry::worker::debug {
namespace {

using record::Cat;

constexpr char kDouble[] = R"(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef double real;
)";

constexpr char kFloat[] = R"(
typedef float real;
)";

// Extremes are kept as numbers that are ordered as the elements are, which is exact whatever `real` is: floats by their
// bits, integers by their distance from the smallest.
constexpr char kBody[] = R"(
typedef struct {
  i64 finite;
  i64 nans;
  i64 infinities;
  real mean;
  real squares;
  uint minimum;
  uint maximum;
} Part;

uint order_of_float(uint bits) { return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u; }

i64 place_of(GLOBAL const i64* layout, int rank, i64 stride, i64 i) {
  if (rank <= 1) return i * stride;
  i64 place = 0;
  for (int d = rank - 1; d > 0; --d) {
    place += i % layout[d] * layout[rank + d];
    i /= layout[d];
  }
  return place + i * layout[rank];
}

Part together(Part a, Part b) {
  a.nans += b.nans;
  a.infinities += b.infinities;
  if (b.finite == 0) return a;
  if (a.finite == 0) {
    b.nans = a.nans;
    b.infinities = a.infinities;
    return b;
  }
  const real share = (real)b.finite / (real)(a.finite + b.finite);
  const real apart = b.mean - a.mean;
  a.mean += apart * share;
  a.squares += b.squares + apart * apart * ((real)a.finite * share);
  a.finite += b.finite;
  if (b.minimum < a.minimum) a.minimum = b.minimum;
  if (b.maximum > a.maximum) a.maximum = b.maximum;
  return a;
}

KERNEL tensor_statistics(GLOBAL const uint* memory, int dtype, i64 elements, int rank, i64 stride,
                         GLOBAL const i64* layout, GLOBAL Part* parts) {
  LOCAL Part of_threads[THREADS];
  Part own;
  own.finite = 0;
  own.nans = 0;
  own.infinities = 0;
  own.minimum = 0xffffffffu;
  own.maximum = 0u;
  real origin = 0;
  real sum = 0;
  real squares = 0;
  for (i64 i = FIRST; i < elements; i += STEP) {
    const i64 place = place_of(layout, rank, stride, i);
    uint order;
    real value;
    if (dtype >= 3) {
      const int stored = integer(memory, dtype, place);
      const int number = dtype == 3 ? stored : stored != 0;
      order = (uint)number ^ 0x80000000u;
      value = (real)number;
    } else {
      const uint bits = float_bits(memory, dtype, place);
      if (is_nan(bits)) {
        ++own.nans;
        continue;
      }
      if (is_infinite(bits)) {
        ++own.infinities;
        continue;
      }
      order = order_of_float(bits);
      value = (real)FLOAT_OF(bits);
    }
    if (own.finite == 0) origin = value;
    const real distance = value - origin;
    sum += distance;
    squares += distance * distance;
    ++own.finite;
    if (order < own.minimum) own.minimum = order;
    if (order > own.maximum) own.maximum = order;
  }
  const real count = own.finite > 0 ? (real)own.finite : (real)1;
  own.mean = origin + sum / count;
  own.squares = squares - sum / count * sum;
  if (own.squares < 0) own.squares = 0;
  of_threads[THREAD] = own;
  for (int others = THREADS / 2; others > 0; others /= 2) {
    BARRIER;
    if (THREAD < others) of_threads[THREAD] = together(of_threads[THREAD], of_threads[THREAD + others]);
  }
  if (THREAD == 0) parts[BLOCK] = of_threads[0];
}
)";

// As the kernel writes it.
template <typename Real>
struct DevicePart {
  int64_t finite;
  int64_t nans;
  int64_t infinities;
  Real mean;
  Real squares;
  uint32_t minimum;
  uint32_t maximum;
};
static_assert(sizeof(DevicePart<double>) == 48 && sizeof(DevicePart<float>) == 40,
              "no gaps that dialects may differ in");

double ValueOfOrder(uint32_t order, DType dtype) {
  constexpr uint32_t kSign = 0x80000000u;
  if (!IsFloat(dtype)) return static_cast<int32_t>(order ^ kSign);
  return static_cast<double>(std::bit_cast<float>((order & kSign) != 0 ? order ^ kSign : ~order));
}

template <typename Real>
absl::StatusOr<StatisticsPart> AddUp(Device* device, const Buffer* parts, int64_t blocks, DType dtype) {
  std::vector<DevicePart<Real>> of_blocks(static_cast<size_t>(blocks));
  const absl::Span<std::byte> bytes(reinterpret_cast<std::byte*>(of_blocks.data()),
                                    of_blocks.size() * sizeof(DevicePart<Real>));
  if (absl::Status status = device->Download(parts, 0, bytes); !status.ok()) return status;
  StatisticsPart all;
  for (const DevicePart<Real>& part : of_blocks) {
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

// A power of two.
int ThreadsOf(Dialect dialect) { return dialect == Dialect::kCuda ? 256 : 64; }

// A layout with as few dimensions as it takes: those of one element are left out, and neighbours that lie one behind
// the other are one.
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
  if (absl::Status status = statistics->Compile(); !status.ok()) return status;
  if (absl::Status status = statistics->AllocateBuffers(); !status.ok()) return status;
  return statistics;
}

std::string DeviceStatistics::Source(Dialect dialect, Sums sums) {
  return Cat(KernelWords(dialect), ElementWords(), sums == Sums::kDouble ? kDouble : kFloat, "#define THREADS ",
             ThreadsOf(dialect), kBody);
}

absl::Status DeviceStatistics::Compile() {
  const DeviceProperties& properties = device_->properties();
  threads_ = ThreadsOf(properties.dialect);
  most_blocks_ = int64_t{8} * std::max(1, properties.compute_units);
  const absl::StatusOr<CompiledCode> code = device_->Compile(Source(properties.dialect, sums_));
  if (!code.ok()) return code.status();
  absl::StatusOr<std::unique_ptr<Module>> module = device_->Load(*code);
  if (!module.ok()) return module.status();
  absl::StatusOr<std::unique_ptr<Function>> function = (*module)->GetFunction("tensor_statistics");
  if (!function.ok()) return function.status();
  function_ = *std::move(function);
  return absl::OkStatus();
}

absl::Status DeviceStatistics::AllocateBuffers() {
  absl::StatusOr<std::unique_ptr<Buffer>> parts =
      device_->Allocate(static_cast<size_t>(most_blocks_) * sizeof(DevicePart<double>));
  if (!parts.ok()) return parts.status();
  absl::StatusOr<std::unique_ptr<Buffer>> layout = device_->Allocate(sizeof(int64_t));
  if (!layout.ok()) return layout.status();
  parts_ = *std::move(parts);
  layout_ = *std::move(layout);
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
      absl::StatusOr<std::unique_ptr<Buffer>> larger = device_->Allocate(bytes.size());
      if (!larger.ok()) return larger.status();
      layout_ = *std::move(larger);
    }
    if (absl::Status status = device_->Upload(layout_.get(), 0, bytes); !status.ok()) return status;
  }
  const int64_t elements = tensor.element_count();
  const int64_t blocks = std::min((elements + threads_ - 1) / threads_, most_blocks_);
  const Buffer* memory = tensor.buffer.get();
  const Buffer* const dimensions = layout_.get();
  const Buffer* const parts = parts_.get();
  const absl::Status status = function_->Launch({.grid = blocks, .threads = threads_},
                                                {memory, static_cast<int32_t>(tensor.dtype), elements, rank,
                                                 rank == 1 ? layout.strides[0] : int64_t{0}, dimensions, parts});
  if (!status.ok()) return status;
  return blocks;
}

absl::StatusOr<TensorStatistics> DeviceStatistics::Compute(const Tensor& tensor) {
  if (tensor.element_count() == 0) return StatisticsPart().Whole();
  const absl::StatusOr<int64_t> blocks = Launch(tensor);
  if (!blocks.ok()) return blocks.status();
  const absl::StatusOr<StatisticsPart> all = sums_ == Sums::kDouble
                                                 ? AddUp<double>(device_.get(), parts_.get(), *blocks, tensor.dtype)
                                                 : AddUp<float>(device_.get(), parts_.get(), *blocks, tensor.dtype);
  if (!all.ok()) return all.status();
  return all->Whole();
}

}  // namespace telemetry::worker::debug
