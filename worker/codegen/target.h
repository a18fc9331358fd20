#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::codegen {

// The device that code is generated for: its dialect and its limits.
struct Target {
  device::Dialect dialect = device::Dialect::kOpenCl;
  int sm = 80;            // CUDA: 80 for sm_80, 90 for sm_90
  int compute_units = 1;  // determines the size of persistent grids
  int max_threads_per_block = 1024;
  size_t shared_bytes_per_block = 48 << 10;  // upper limit of shared memory in a block

  static Target For(const device::DeviceProperties& device);
  // Returns the target for a CUDA architecture ("sm_90") when no such device is present. Its limits are those of the
  // data-centre GPU of that architecture. "sm_90a" means the same as "sm_90": generated code always uses every
  // instruction of the architecture. INVALID_ARGUMENT unless the text is "sm_" with a number of at least 80, or "sm_"
  // with a number of at least 90 and "a".
  static absl::StatusOr<Target> ForArchitecture(std::string_view architecture);
};

// Reports whether the device has wgmma, the tensor core instruction of sm_90 that no other architecture has.
bool HasWgmma(const Target& target);

// Settings that trade accuracy for speed, and the instructions that may be used.
struct GenerateOptions {
  bool allow_tf32 = false;   // compute f32 dots on tensor cores in tf32, with 10 bits of mantissa
  bool fast_math = false;    // use the device's approximate division and elementary functions
  bool tensor_cores = true;  // false: dots are float32 multiply-adds
};

}  // namespace telemetry::worker::codegen
