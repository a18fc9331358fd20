#include "worker/debug/dense_bytes.h"

#include <cstring>

#include "proto/base/status_macros.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::debug {
namespace {

using runtime::Tensor;

// A tensor with at most kFewElements elements that are on average more than kFarApart elements apart is downloaded
// element by element.
constexpr int64_t kFewElements = 64;
constexpr int64_t kFarApart = 64;

// Calls visit(offset) for every element in row-major order until a call fails.
template <typename Visit>
absl::Status ForEachOffset(const Tensor& tensor, Visit visit) {
  runtime::Dimensions index(tensor.sizes.size(), 0);
  int64_t offset = 0;
  for (int64_t i = tensor.element_count(); i > 0; --i) {
    RETURN_IF_ERROR(visit(static_cast<size_t>(offset)));
    for (size_t d = index.size(); d-- > 0;) {
      offset += tensor.strides[d];
      if (++index[d] < tensor.sizes[d]) break;
      offset -= tensor.strides[d] * tensor.sizes[d];
      index[d] = 0;
    }
  }
  return absl::OkStatus();
}

absl::Status Download(const Tensor& tensor, size_t element, absl::Span<std::byte> to) {
  return tensor.device->Download(tensor.buffer.get(), element * SizeOf(tensor.dtype), to);
}

// Downloads the memory that the tensor spans and copies its elements.
absl::Status Gather(const Tensor& tensor, absl::Span<std::byte> to) {
  const size_t size = SizeOf(tensor.dtype);
  std::vector<std::byte> memory(static_cast<size_t>(tensor.span()) * size);
  RETURN_IF_ERROR(Download(tensor, 0, absl::MakeSpan(memory)));
  std::byte* next = to.data();
  return ForEachOffset(tensor, [&](size_t offset) {
    std::memcpy(next, &memory[offset * size], size);
    next += size;
    return absl::OkStatus();
  });
}

// Downloads each element separately.
absl::Status GatherEach(const Tensor& tensor, absl::Span<std::byte> to) {
  return ForEachOffset(tensor, [&](size_t offset) {
    const absl::Span<std::byte> element = to.first(SizeOf(tensor.dtype));
    to.remove_prefix(element.size());
    return Download(tensor, offset, element);
  });
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> DenseBytes(const Tensor& tensor) {
  if (tensor.host != nullptr) {
    ir::HostArray dense =
        ir::HostArray::Dense(tensor.dtype, std::vector<int64_t>(tensor.sizes.begin(), tensor.sizes.end()));
    dense.SetRowMajor(tensor.host->RowMajor());
    return ir::ToBytes(dense);
  }
  const int64_t elements = tensor.element_count();
  std::vector<std::byte> bytes(static_cast<size_t>(elements) * SizeOf(tensor.dtype));
  if (bytes.empty()) return bytes;
  absl::Status status;
  if (tensor.strides == runtime::DenseStrides(tensor.sizes)) {
    status = Download(tensor, 0, absl::MakeSpan(bytes));
  } else if (elements <= kFewElements && tensor.span() / kFarApart > elements) {
    status = GatherEach(tensor, absl::MakeSpan(bytes));
  } else {
    status = Gather(tensor, absl::MakeSpan(bytes));
  }
  if (!status.ok()) return status;
  return bytes;
}

std::vector<double> DecodeValues(device::DType dtype, absl::Span<const std::byte> dense) {
  ir::HostArray array = ir::HostArray::Dense(dtype, {static_cast<int64_t>(dense.size() / SizeOf(dtype))});
  ir::FromBytes(dense, &array).IgnoreError();  // cannot fail: the sizes agree
  return std::move(array.data);
}

}  // namespace telemetry::worker::debug
