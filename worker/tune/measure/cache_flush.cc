#include "worker/tune/measure/cache_flush.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proto/base/status_macros.h"
#include "worker/device/kernel_words.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::DeviceProperties;

// The cache size of a device that does not report one, and the upper limits. A virtual machine with two cores reports
// the entire cache of its host, hundreds of MiB, although it can use at most its share.
constexpr uint64_t kSomeCacheBytes = uint64_t{32} << 20;
constexpr uint64_t kMostCacheBytes = uint64_t{256} << 20;
constexpr uint64_t kMostCacheBytesOfAUnit = uint64_t{16} << 20;
constexpr uint64_t kWordBytes = 16;

// The memory holds only zeros, which the compiler does not know.
constexpr char kFlushBody[] = R"(
KERNEL read_zeros(GLOBAL uint4* zeros, i64 count) {
  uint seen = 0u;
  EACH(i, 0, count) {
    const uint4 word = zeros[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen != 0u) zeros[0].x = seen;
}
)";

uint64_t CacheBytes(const DeviceProperties& properties) {
  if (properties.l2_bytes == 0) return kSomeCacheBytes;
  const uint64_t share = kMostCacheBytesOfAUnit * static_cast<uint64_t>(std::max(1, properties.compute_units));
  return std::min({properties.l2_bytes, share, kMostCacheBytes});
}

}  // namespace

absl::StatusOr<std::unique_ptr<CacheFlush>> CacheFlush::Create(device::Device* device) {
  const DeviceProperties& properties = device->properties();
  ASSIGN_OR_RETURN(const device::CompiledCode code,
                   device->Compile(device::KernelWords(properties.dialect) + kFlushBody));
  ASSIGN_OR_RETURN(const std::unique_ptr<device::Module> module, device->Load(code));
  ASSIGN_OR_RETURN(std::unique_ptr<device::Function> read, module->GetFunction("read_zeros"));
  const uint64_t bytes = (2 * CacheBytes(properties) + kWordBytes - 1) / kWordBytes * kWordBytes;
  ASSIGN_OR_RETURN(std::unique_ptr<device::Buffer> zeros, device->Allocate(bytes));
  RETURN_IF_ERROR(device->Fill(zeros.get(), 0));
  auto flush = std::unique_ptr<CacheFlush>(new CacheFlush());
  flush->zeros_ = std::move(zeros);
  flush->read_ = std::move(read);
  flush->shape_ = {.grid = int64_t{8} * std::max(1, properties.compute_units),
                   .threads = properties.dialect == device::Dialect::kCuda ? 256 : 64};
  return flush;
}

absl::Status CacheFlush::Queue() {
  return read_->Launch(shape_, {zeros_.get(), static_cast<int64_t>(zeros_->size_bytes() / kWordBytes)});
}

}  // namespace telemetry::worker::tune::measure
