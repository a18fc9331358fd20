// debug-values-probe DEVICE FOLDER: passes tensors of every dtype and layout to a debugger at levels 1 and 2. The
// tensors are on the device, or on the host if DEVICE is cpu. Prints the debugger's text and saves its files to FOLDER.
// debug_values_test.py computes the same values.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "worker/debug/value_debugger.h"
#include "worker/device/open_device.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::debug {
namespace {

using device::Device;
using device::DType;

struct Layout {
  std::string name;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

const std::vector<Layout>& Layouts() {
  static const auto& layouts = *new std::vector<Layout>{
      {.name = "dense", .sizes = {37, 129}, .strides = {129, 1}},
      {.name = "transposed", .sizes = {129, 37}, .strides = {1, 129}},
      {.name = "gaps", .sizes = {50, 40}, .strides = {64, 1}},
      {.name = "apart", .sizes = {3, 2}, .strides = {5000, 300}},
      {.name = "repeated", .sizes = {3, 70}, .strides = {0, 1}},
      {.name = "rank6", .sizes = {2, 3, 4, 5, 6, 7}, .strides = {2520, 840, 1, 4, 20, 120}},
      {.name = "scalar"},
      {.name = "one", .sizes = {1}, .strides = {1}},
      {.name = "empty", .sizes = {4, 0, 3}, .strides = {3, 3, 1}},
      {.name = "large", .sizes = {1 << 20}, .strides = {1}},
  };
  return layouts;
}

// Returns the element at a place in memory.
double ValueAt(DType dtype, int64_t place) {
  const auto value = static_cast<double>(place * 7919 % 1000 - 500) / 8;
  if (dtype == DType::kBool) return place % 3 == 0 ? 1 : 0;
  if (IsInteger(dtype)) {
    // All bits, but not more than doubles hold exactly.
    const auto bits = std::min<size_t>(8 * SizeOf(dtype), 48);
    const int64_t lowest = IsUnsigned(dtype) ? 0 : -(int64_t{1} << (bits - 1));
    return static_cast<double>(place * 1000003 % (int64_t{1} << bits) + lowest);
  }
  if (place % 97 == 13) return std::numeric_limits<double>::quiet_NaN();
  if (place % 89 == 5) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return value;
}

DebugValue MakeValue(DType dtype, const Layout& layout, const std::shared_ptr<Device>& device) {
  ir::HostArray array = ir::HostArray::Strided(dtype, layout.sizes, layout.strides);
  for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = ValueAt(dtype, static_cast<int64_t>(i));
  const std::string name = std::string(ShortName(dtype)) + "_" + layout.name;
  if (device == nullptr) {
    // Rounds the elements to the dtype, as an upload to a device does.
    const std::vector<std::byte> bytes = ir::ToBytes(array);
    ir::FromBytes(bytes, &array).IgnoreError();
    return {.name = name, .value = runtime::Tensor::OnHost(std::move(array))};
  }
  return {.name = name, .value = runtime::ToDevice(device, array).value()};
}

absl::Status Show(const std::string& device_id, const std::string& folder) {
  std::shared_ptr<Device> device;
  if (device_id != "cpu") {
    absl::StatusOr<std::shared_ptr<Device>> opened = device::OpenDevice(device_id);
    if (!opened.ok()) return opened.status();
    device = *std::move(opened);
  }
  std::vector<DebugValue> values;
  for (const DType dtype : device::kAllDTypes) {
    for (const Layout& layout : Layouts()) values.push_back(MakeValue(dtype, layout, device));
  }
  for (const DebugLevel level : {DebugLevel::kSave, DebugLevel::kPrint}) {
    const auto debugger = ValueDebugger::Create({.level = level, .folder = folder},
                                                [](std::string_view text) { std::cout << text << "\n"; });
    debugger->BeforeLaunch("probe", [&] { return absl::StatusOr<std::vector<DebugValue>>(values); });
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace telemetry::worker::debug

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: debug-values-probe DEVICE FOLDER\n";
    return 2;
  }
  const absl::Status status = telemetry::worker::debug::Show(argv[1], argv[2]);
  if (!status.ok()) std::cerr << "debug-values-probe: " << status << "\n";
  return status.ok() ? 0 : 1;
}
