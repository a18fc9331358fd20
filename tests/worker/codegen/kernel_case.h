#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/codegen/config.h"
#include "worker/codegen/generate.h"
#include "worker/ir/compare.h"
#include "worker/ir/graph.h"
#include "worker/ir/reference.h"
#include "worker/ir/trace.h"

namespace telemetry::worker::codegen {

// A kernel with arguments, written down where it is tested.
class KernelCase {
 public:
  // A dense argument with small random values; the name decides which.
  KernelCase& Input(const std::string& name, DType dtype, std::vector<int64_t> sizes);
  // The same with strides.
  KernelCase& Input(const std::string& name, DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);
  // The arguments so far have sizes and strides that are known at launch only.
  KernelCase& SizesAtLaunch();
  KernelCase& Scalar(const std::string& name, double value);
  KernelCase& Trace(const std::function<void(ir::Trace&)>& kernel);

  const ir::DeviceIr& ir() const { return ir_; }
  // The config as text; what it leaves out has its default.
  Config With(const std::string& config) const;

  // Runs the kernel on the test device and compares every output with the reference.
  void ExpectResults(const std::string& config, ir::Tolerance tolerance, const GenerateOptions& options = {}) const;
  // Compiles the kernel with NVRTC for those of sm_80 and sm_90 that have the config, at least one.
  void ExpectCompiles(const std::string& config, const GenerateOptions& options = {}) const;
  // Both; only the first where there is no NVRTC.
  void ExpectReferenceResults(const std::string& config = "Config()", ir::Tolerance tolerance = {2e-5, 2e-5},
                              const GenerateOptions& options = {}) const;

 private:
  std::vector<ir::HostTensor> tensors_;
  std::vector<ir::ScalarParameter> scalars_;
  std::map<std::string, double> scalar_values_;
  ir::ReferenceTensors arrays_;
  ir::DeviceIr ir_;
};

}  // namespace telemetry::worker::codegen
