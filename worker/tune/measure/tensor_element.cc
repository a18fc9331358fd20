#include "worker/tune/measure/tensor_element.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "worker/ir/half.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::DType;

template <typename Element>
Element Read(absl::Span<const std::byte> bytes) {
  Element element;
  std::memcpy(&element, bytes.data(), sizeof(element));
  return element;
}

}  // namespace

std::vector<int64_t> IndexOfElement(int64_t place, const wire::Buffer& buffer) {
  std::vector<int> dimensions(static_cast<size_t>(buffer.sizes_size()));
  std::iota(dimensions.begin(), dimensions.end(), 0);
  const auto wider = [&buffer](int a, int b) { return buffer.strides(a) > buffer.strides(b); };
  std::stable_sort(dimensions.begin(), dimensions.end(), wider);
  std::vector<int64_t> index(dimensions.size(), 0);
  for (const int dimension : dimensions) {
    const int64_t stride = buffer.strides(dimension);
    if (stride == 0) continue;
    const int64_t i = std::min(place / stride, buffer.sizes(dimension) - 1);
    index[static_cast<size_t>(dimension)] = i;
    place -= i * stride;
  }
  return index;
}

double ValueOfElement(absl::Span<const std::byte> bytes, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return static_cast<double>(Read<float>(bytes));
    case DType::kF16:
      return ir::DecodeF16(Read<uint16_t>(bytes));
    case DType::kBF16:
      return ir::DecodeBF16(Read<uint16_t>(bytes));
    case DType::kI32:
      return Read<int32_t>(bytes);
    case DType::kBool:
    case DType::kU8:
      return Read<uint8_t>(bytes);
    case DType::kI8:
      return Read<int8_t>(bytes);
    case DType::kI16:
      return Read<int16_t>(bytes);
    case DType::kU16:
      return Read<uint16_t>(bytes);
    case DType::kU32:
      return Read<uint32_t>(bytes);
    case DType::kI64:
      return static_cast<double>(Read<int64_t>(bytes));
    case DType::kU64:
      return static_cast<double>(Read<uint64_t>(bytes));
  }
  return 0;
}

}  // namespace telemetry::worker::tune::measure
