#pragma once

#include "telemetry/v1/records.pb.h"
#include "worker/device/device.h"
#include "worker/kernels/library.h"
#include "worker/tune/library_subject.h"

namespace telemetry::worker::model {

// Returns the properties of an NVIDIA H200, as its driver reports them.
inline device::DeviceProperties H200() {
  device::DeviceProperties device;
  device.dialect = device::Dialect::kCuda;
  device.name = "NVIDIA H200";
  device.architecture = "sm_90";
  device.driver_version = "13.0";
  device.compute_units = 132;
  device.warp_size = 32;
  device.max_threads_per_block = 1024;
  device.max_threads_per_compute_unit = 2048;
  device.shared_bytes_per_block = 227 << 10;
  device.global_bytes = 150109880320;
  device.l2_bytes = 62914560;
  device.clock_khz = 1980000;
  device.memory_clock_khz = 3201000;
  device.memory_bus_bits = 6016;
  return device;
}

// Returns the run of softmax on 4096 x 2560 float16 on an H200.
inline v1::Run SoftmaxRun() {
  const kernels::LibraryKernel& kernel = **kernels::FindKernel("softmax");
  return tune::MakeLibraryRun(kernel, *kernels::ParseProblem(kernel, {"x=4096x2560:f16"}), {}, H200());
}

}  // namespace telemetry::worker::model
