#include "worker/ir/host_array.h"

#include <cstring>
#include <limits>
#include <utility>

#include "proto/base/parallel.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

// Calls visit(offset in data) for every element, in row-major order.
template <typename Visit>
void ForEachOffset(const HostArray& array, Visit visit) {
  const int64_t count = array.element_count();
  std::vector<int64_t> index(array.sizes.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<size_t>(offset));
    for (size_t d = index.size(); d-- > 0;) {
      offset += array.strides[d];
      if (++index[d] < array.sizes[d]) break;
      offset -= array.strides[d] * array.sizes[d];
      index[d] = 0;
    }
  }
}

size_t ElementsInMemory(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    last += (sizes[d] - 1) * strides[d];
  }
  return static_cast<size_t>(last + 1);
}

// The elements that one thread converts at a time.
constexpr size_t kPart = size_t{1} << 20;

template <typename Element, typename Encode>
void Write(const std::vector<double>& data, std::byte* to, Encode encode) {
  ForEachPart(data.size(), kPart, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Element element = encode(data[i]);
      std::memcpy(to + i * sizeof(element), &element, sizeof(element));
    }
  });
}

template <typename Element, typename Decode>
void Read(const std::byte* from, std::vector<double>* data, Decode decode) {
  ForEachPart(data->size(), kPart, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Element element;
      std::memcpy(&element, from + i * sizeof(element), sizeof(element));
      (*data)[i] = decode(element);
    }
  });
}

// Writes the low bits of integers.
template <typename Bits>
void WriteIntegers(const HostArray& array, std::byte* to) {
  const DType dtype = array.dtype;
  Write<Bits>(array.data, to, [dtype](double v) { return static_cast<Bits>(IntegerBits(dtype, RoundTo(dtype, v))); });
}

template <typename Number>
void ReadNumbers(const std::byte* from, std::vector<double>* data) {
  Read<Number>(from, data, [](Number v) { return static_cast<double>(v); });
}

}  // namespace

HostArray HostArray::Dense(DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = RowMajorStrides(sizes);
  return Strided(dtype, std::move(sizes), std::move(strides));
}

HostArray HostArray::Strided(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  HostArray array = {.dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)};
  array.data.assign(ElementsInMemory(array.sizes, array.strides), FillValue(dtype));
  return array;
}

int64_t HostArray::element_count() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

size_t HostArray::ElementOffset(absl::Span<const int64_t> index) const {
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) offset += index[d] * strides[d];
  return static_cast<size_t>(offset);
}

std::vector<double> HostArray::RowMajor() const {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(element_count()));
  ForEachOffset(*this, [&](size_t offset) { values.push_back(data[offset]); });
  return values;
}

void HostArray::SetRowMajor(absl::Span<const double> values) {
  size_t next = 0;
  ForEachOffset(*this, [&](size_t offset) { data[offset] = RoundTo(dtype, values[next++]); });
}

double FillValue(DType dtype) {
  if (IsFloat(dtype)) return std::numeric_limits<double>::quiet_NaN();
  if (dtype == DType::kBool) return 1;
  // Every byte of an integer of up to 32 bits is 0xA5. A double cannot hold 64 such bits.
  constexpr uint64_t kBytes = 0xA5A5A5A5;
  return Wrap(dtype, dtype == DType::kI64 ? static_cast<uint64_t>(-0x5A5A5A5B) : kBytes);
}

std::vector<int64_t> RowMajorStrides(absl::Span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * (sizes[d] > 0 ? sizes[d] : 1);
  return strides;
}

std::vector<std::byte> ToBytes(const HostArray& array) {
  std::vector<std::byte> bytes(array.data.size() * SizeOf(array.dtype));
  switch (array.dtype) {
    case DType::kF32:
      Write<float>(array.data, bytes.data(), [](double v) { return static_cast<float>(v); });
      break;
    case DType::kF16:
      Write<uint16_t>(array.data, bytes.data(), EncodeF16);
      break;
    case DType::kBF16:
      Write<uint16_t>(array.data, bytes.data(), EncodeBF16);
      break;
    case DType::kBool:
      Write<uint8_t>(array.data, bytes.data(), [](double v) { return static_cast<uint8_t>(v != 0); });
      break;
    case DType::kI8:
    case DType::kU8:
      WriteIntegers<uint8_t>(array, bytes.data());
      break;
    case DType::kI16:
    case DType::kU16:
      WriteIntegers<uint16_t>(array, bytes.data());
      break;
    case DType::kI32:
    case DType::kU32:
      WriteIntegers<uint32_t>(array, bytes.data());
      break;
    case DType::kI64:
    case DType::kU64:
      WriteIntegers<uint64_t>(array, bytes.data());
      break;
  }
  return bytes;
}

absl::Status FromBytes(absl::Span<const std::byte> bytes, HostArray* array) {
  const size_t expected = array->data.size() * SizeOf(array->dtype);
  if (bytes.size() != expected) {
    return absl::InvalidArgumentError(
        record::Cat("an array of ", expected, " bytes cannot be read from ", bytes.size(), " bytes"));
  }
  switch (array->dtype) {
    case DType::kF32:
      ReadNumbers<float>(bytes.data(), &array->data);
      break;
    case DType::kF16:
      Read<uint16_t>(bytes.data(), &array->data, DecodeF16);
      break;
    case DType::kBF16:
      Read<uint16_t>(bytes.data(), &array->data, DecodeBF16);
      break;
    case DType::kBool:
      Read<uint8_t>(bytes.data(), &array->data, [](uint8_t v) { return v != 0 ? 1.0 : 0.0; });
      break;
    case DType::kI8:
      ReadNumbers<int8_t>(bytes.data(), &array->data);
      break;
    case DType::kI16:
      ReadNumbers<int16_t>(bytes.data(), &array->data);
      break;
    case DType::kI32:
      ReadNumbers<int32_t>(bytes.data(), &array->data);
      break;
    case DType::kI64:
      ReadNumbers<int64_t>(bytes.data(), &array->data);
      break;
    case DType::kU8:
      ReadNumbers<uint8_t>(bytes.data(), &array->data);
      break;
    case DType::kU16:
      ReadNumbers<uint16_t>(bytes.data(), &array->data);
      break;
    case DType::kU32:
      ReadNumbers<uint32_t>(bytes.data(), &array->data);
      break;
    case DType::kU64:
      ReadNumbers<uint64_t>(bytes.data(), &array->data);
      break;
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::ir
