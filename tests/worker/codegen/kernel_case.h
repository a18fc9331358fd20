#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/codegen/config.h"
#include "worker/codegen/target.h"
#include "worker/ir/compare.h"
#include "worker/ir/graph.h"
#include "worker/ir/reference/reference.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::codegen {

// A kernel with its arguments, as a test defines it.
class KernelCase {
 public:
  // Adds a dense argument with small random values, seeded by the name.
  KernelCase& Input(const std::string& name, device::DType dtype, std::vector<int64_t> sizes);
  // Adds the same with these strides.
  KernelCase& Input(const std::string& name, device::DType dtype, std::vector<int64_t> sizes,
                    std::vector<int64_t> strides);
  // Sets the elements of the argument that was added last, in row-major order.
  KernelCase& Values(const std::vector<double>& values);
  // Makes the sizes and strides of the arguments so far dynamic: known only at launch.
  KernelCase& SizesAtLaunch();
  KernelCase& Scalar(const std::string& name, double value);
  // Traces the kernel with the arguments so far.
  KernelCase& Trace(const std::function<void(ir::Trace&)>& kernel);

  const ir::DeviceIr& ir() const { return ir_; }
  // Parses a config; missing keys get their defaults.
  Config With(const std::string& config) const;

  // Runs the kernel on the test device and compares every output with the reference.
  void ExpectResults(const std::string& config, ir::Tolerance tolerance, const GenerateOptions& options = {}) const;
  // Compiles the kernel with NVRTC for sm_80 and sm_90, except targets whose search space excludes the config. At least
  // one target must allow the config.
  void ExpectCompiles(const std::string& config, const GenerateOptions& options = {}) const;
  // Does both; only the first if NVRTC is not available.
  void ExpectReferenceResults(const std::string& config = "Config()", ir::Tolerance tolerance = {2e-5, 2e-5},
                              const GenerateOptions& options = {}) const;

 private:
  std::vector<ir::HostTensor> tensors_;
  std::vector<ir::ScalarParameter> scalars_;
  std::map<std::string, double> scalar_values_;
  ir::reference::Tensors arrays_;
  ir::DeviceIr ir_;
};

}  // namespace telemetry::worker::codegen
