#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/commands.h"
#include "worker/device/device.h"
#include "worker/device/open_device.h"

namespace telemetry::worker {
namespace {

using device::DeviceProperties;
using device::Dialect;
using record::Json;

// Returns an empty string if the frequency is not known.
std::string Megahertz(int khz) { return khz == 0 ? "" : absl::StrCat(khz / 1000, " MHz"); }

// Returns an empty string if the number is not known.
std::string Bytes(uint64_t bytes) {
  if (bytes == 0) return "";
  if (bytes >= uint64_t{1} << 30) return absl::StrFormat("%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  if (bytes >= uint64_t{8} << 20) return absl::StrFormat("%.0f MiB", static_cast<double>(bytes) / (1 << 20));
  return absl::StrFormat("%.0f KiB", static_cast<double>(bytes) / 1024);
}

void PrintBlock(const DeviceProperties& device) {
  std::cout << DeviceId(device) << "\n";
  const auto line = [](const char* name, const std::string& value) {
    if (!value.empty()) std::cout << absl::StrFormat("  %-17s %s\n", name, value);
  };
  line("name", device.name);
  line("architecture", device.architecture);
  line("driver", device.driver_version);
  line(device.dialect == Dialect::kCuda ? "NVRTC" : "platform", device.runtime_version);
  line("compute units", absl::StrCat(device.compute_units));
  line("warp size", absl::StrCat(device.warp_size));
  line("threads per block", absl::StrCat("up to ", device.max_threads_per_block));
  line("shared per block", Bytes(device.shared_bytes_per_block));
  line("memory", Bytes(device.global_bytes));
  line(device.dialect == Dialect::kCuda ? "L2 cache" : "global cache", Bytes(device.l2_bytes));
  line("clock", Megahertz(device.clock_khz));
  line("memory clock", Megahertz(device.memory_clock_khz));
  line("memory bus", device.memory_bus_bits == 0 ? "" : absl::StrCat(device.memory_bus_bits, " bits"));
}

// Returns every property under its own name. Unknown numbers are null.
Json ToJson(const DeviceProperties& device) {
  const auto known = [](uint64_t value) {
    return value == 0 ? Json::Null() : Json::Integer(static_cast<int64_t>(value));
  };
  Json object = Json::Object();
  object.members = {
      {"id", Json::String(DeviceId(device))},
      {"dialect", Json::String(device.dialect == Dialect::kCuda ? "cuda" : "opencl")},
      {"name", Json::String(device.name)},
      {"architecture", Json::String(device.architecture)},
      {"driver_version", Json::String(device.driver_version)},
      {"runtime_version", device.runtime_version.empty() ? Json::Null() : Json::String(device.runtime_version)},
      {"compute_units", Json::Integer(device.compute_units)},
      {"warp_size", Json::Integer(device.warp_size)},
      {"max_threads_per_block", Json::Integer(device.max_threads_per_block)},
      {"shared_bytes_per_block", Json::Integer(static_cast<int64_t>(device.shared_bytes_per_block))},
      {"global_bytes", known(device.global_bytes)},
      {"l2_bytes", known(device.l2_bytes)},
      {"clock_khz", known(static_cast<uint64_t>(device.clock_khz))},
      {"memory_clock_khz", known(static_cast<uint64_t>(device.memory_clock_khz))},
      {"memory_bus_bits", known(static_cast<uint64_t>(device.memory_bus_bits))},
  };
  return object;
}

int PrintDevices(bool as_json) {
  std::vector<std::string> notices;
  const std::vector<DeviceProperties> devices = device::ListDevices(&notices);
  Json list = Json::Array();
  for (const DeviceProperties& device : devices) {
    if (as_json) {
      list.items.push_back(ToJson(device));
    } else {
      if (&device != &devices.front()) std::cout << "\n";
      PrintBlock(device);
    }
  }
  if (as_json) std::cout << record::ToIndentedJson(list) << "\n";
  // If there is a device, a missing driver or library of the other kind is not worth a warning.
  for (const std::string& notice : notices) {
    spdlog::log(devices.empty() ? spdlog::level::warn : spdlog::level::info, "{}", notice);
  }
  if (!devices.empty()) return cli::kExitDone;
  spdlog::error(
      "there is no device to tune kernels on: install NVIDIA's driver and NVRTC, or an OpenCL platform "
      "(pocl-opencl-icd runs on any CPU)");
  return cli::kExitFailed;
}

class DevicesCommand final : public cli::Command {
 public:
  DevicesCommand()
      : Command(
            {.name = "devices",
             .summary = "List the devices that kernels can be tuned on",
             .examples =
                 R"(  telemetry-worker devices                          one block per device: cuda:0, opencl:0, ...
  telemetry-worker devices --json | jq -r '.[].id'
)",
             .notes =
                 R"(Loads NVIDIA's driver (libcuda.so.1), NVRTC (libnvrtc.so.13 or 12; TELEMETRY_NVRTC names another) and OpenCL
(libOpenCL.so.1) at run time; missing libraries are reported on stderr.
Exit status: 0 there is a device; 1 there is none; 2 wrong usage.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.Switch("json", as_json_, "Print a JSON array; sizes in bytes, unknown values null");
  }

  absl::StatusOr<int> Run() override { return PrintDevices(as_json_); }

 private:
  bool as_json_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> NewDevices() { return cli::New<DevicesCommand>(); }

}  // namespace telemetry::worker
