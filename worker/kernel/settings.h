#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/device/device.h"

namespace telemetry::worker {

enum class IndexDType { kAuto, kInt32, kInt64 };
enum class DotPrecision { kTf32, kIeee };

// How a kernel is specialised, generated and run. Helion's names and defaults where the meaning is the same.
struct Settings {
  // One code per sizes and strides; else sizes of two and more, and strides, are arguments of the code.
  bool static_shapes = true;
  // kInt32 refuses tensors whose elements it cannot count; the other two do not.
  IndexDType index_dtype = IndexDType::kAuto;
  // Dots of f32: on tensor cores with 10 bits of mantissa, or exact.
  DotPrecision dot_precision = DotPrecision::kTf32;
  bool fast_math = false;
  // Compute units that persistent kernels leave to others.
  int persistent_reserved_sms = 0;

  bool use_default_config = false;   // a kernel without a config runs its default one instead of being autotuned
  bool disallow_autotuning = false;  // a full search is an error
  bool force_autotune = false;       // search although there are fixed configs
  bool print_output_code = false;    // every source that is compiled goes to stderr
  bool reference_mode = false;       // evaluated on the host: no compiler, no device

  friend bool operator==(const Settings&, const Settings&) = default;
};

// One setting by its name and value as text: {"static_shapes", "false"}.
using NamedSetting = std::pair<std::string, std::string>;

// The defaults with these changed. INVALID_ARGUMENT: an unknown name, one given twice, or a value that is not allowed;
// the message says what is.
absl::StatusOr<Settings> SettingsOf(const std::vector<NamedSetting>& named);

// As the sidecars write them, an object of Helion's names with its values: what identities are computed over
// (record::SettingsSignature, record::RunIdHelion). The backend is the device's: "cuda", "opencl".
record::Json SettingsToJson(const Settings& settings, Dialect dialect);

}  // namespace telemetry::worker
