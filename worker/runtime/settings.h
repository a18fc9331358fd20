#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/device/device.h"

namespace telemetry::worker::runtime {

// The integer type of tensor indices.
enum class IndexDType { kAuto, kInt32, kInt64 };
// The precision of dots of f32 values.
enum class DotPrecision { kTf32, kIeee };

// Settings for the specialisation, generation and execution of a kernel. Names and defaults are Helion's if the meaning
// is the same.
struct Settings {
  // True: separate code for each combination of sizes and strides. False: sizes of two and more, and strides, are
  // arguments of the code.
  bool static_shapes = true;
  // kInt32 rejects tensors with more elements than an int32 can count; the other two accept them.
  IndexDType index_dtype = IndexDType::kAuto;
  // kTf32: tensor cores with 10 bits of mantissa. kIeee: exact.
  DotPrecision dot_precision = DotPrecision::kTf32;
  bool fast_math = false;
  // The number of compute units that persistent kernels leave free.
  int persistent_reserved_sms = 0;

  bool use_default_config = false;   // a kernel without a config runs its default config instead of autotuning
  bool disallow_autotuning = false;  // a full search is an error
  bool force_autotune = false;       // search even if there are fixed configs
  bool print_output_code = false;    // print each compiled source to stderr
  // A program that repeats the call is written for each call that fails, and for the config that autotuning finds.
  // Calls wait for the device, so that an error of the device is that of the call; streams cannot be captured.
  bool print_repro = false;
  bool reference_mode = false;  // evaluate on the host, without compiler and device

  friend bool operator==(const Settings&, const Settings&) = default;
};

// The name of a setting and its value as text: {"static_shapes", "false"}.
using NamedSetting = std::pair<std::string, std::string>;

// Returns the defaults with these changes. INVALID_ARGUMENT: an unknown name, a repeated name, or an invalid value; the
// message lists the valid ones.
absl::StatusOr<Settings> MakeSettings(const std::vector<NamedSetting>& named);

// Returns the settings as sidecars contain them: an object of Helion's names and values, from which ids are computed
// (record::SettingsSignature, record::RunIdHelion). "backend" is the device's: "cuda" or "opencl".
record::Json SettingsToJson(const Settings& settings, device::Dialect dialect);

}  // namespace telemetry::worker::runtime
