#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/dtype.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::tune::measure {

// The counts that the device's kernels write for one buffer, in the order in which they write them.
struct CheckCounts {
  uint32_t mismatches = 0;
  uint32_t first_from_end = 0;  // 0xffffffff - index of the first mismatch; 0: none
  float worst_absolute = 0;
  float worst_relative = 0;
  uint32_t damaged_bytes = 0;
  uint32_t hash = 0;

  int64_t first_mismatch() const { return int64_t{0xffffffff} - first_from_end; }
};

// Checks of memory that run on the device: results are checked in device memory, because copying them to the host would
// take longer than measuring them. Each call queues a kernel that adds to entry `slot` of an array of CheckCounts in
// `counts`, which must be zero before.
class DeviceChecks {
 public:
  // Compiles the kernels. Returns the device's errors.
  static absl::StatusOr<std::unique_ptr<DeviceChecks>> Create(device::Device* device);

  // Counts the elements with |actual - expected| > absolute + relative * |expected|. NaN matches only NaN, and infinity
  // only the same infinity. `expected` holds float values, or int32 for integers and booleans. The limit is 2^32 - 1
  // elements.
  absl::Status Compare(const device::Buffer* actual, const device::Buffer* expected, device::DType dtype,
                       int64_t elements, const ir::Tolerance& tolerance, const device::Buffer* counts, int slot);

  // Does the same for doubles. `expected` holds doubles, too. INVALID_ARGUMENT: the device has no doubles.
  absl::Status CompareDoubles(const device::Buffer* actual, const device::Buffer* expected, int64_t elements,
                              const ir::Tolerance& tolerance, const device::Buffer* counts, int slot);

  // Compares only the elements whose positions in memory `places` holds (uint32), with the value at the same index of
  // `expected`. The index of the first mismatch is an index of `places`.
  absl::Status CompareSample(const device::Buffer* actual, const device::Buffer* places, const device::Buffer* expected,
                             device::DType dtype, int64_t elements, const ir::Tolerance& tolerance,
                             const device::Buffer* counts, int slot);

  // Converts elements of this dtype to the form of expected values.
  absl::Status Widen(const device::Buffer* from, device::DType dtype, int64_t elements, const device::Buffer* to);

  // Counts the bytes of [0, size), without those of [gap_begin, gap_end), that differ from `value`.
  absl::Status CountDamage(const device::Buffer* memory, int64_t gap_begin, int64_t gap_end, int64_t size,
                           uint8_t value, const device::Buffer* counts, int slot);

  // Hashes [begin, end) in words of 4 bytes. `begin` is a multiple of 4; the bytes up to the next multiple of 4 after
  // `end` are included.
  absl::Status Hash(const device::Buffer* memory, int64_t begin, int64_t end, const device::Buffer* counts, int slot);

 private:
  DeviceChecks() = default;
  absl::Status Compare(const device::Buffer* actual, const device::Buffer* expected, int dtype, int64_t elements,
                       const ir::Tolerance& tolerance, const device::Buffer* counts, int slot);
  device::LaunchShape ShapeFor(int64_t elements) const;

  int compute_units_ = 1;
  int threads_ = 64;
  bool has_doubles_ = false;
  std::unique_ptr<device::Function> compare_;
  std::unique_ptr<device::Function> compare_sample_;
  std::unique_ptr<device::Function> widen_;
  std::unique_ptr<device::Function> count_damage_;
  std::unique_ptr<device::Function> hash_;
};

}  // namespace telemetry::worker::tune::measure
