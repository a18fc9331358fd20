#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "worker/device/device.h"
#include "worker/device/dtype.h"
#include "worker/ir/compare.h"
#include "worker/kernels/draw.h"
#include "worker/kernels/library_kernel.h"
#include "worker/wrapper/plan_buffer.h"

namespace telemetry::worker::wrapper {

// A kernel that is given as source text instead of an IR: a config of the kernel of a T1 specification, for example
// (file/spec_kernel.h). Plain data.

// A source with its launch.
struct SourceCode {
  std::string source;    // with its compiler options (device/compile_options.h)
  std::string function;  // on CUDA an expression of C++ that names the kernel
  device::LaunchShape shape;
};

// A tensor that the kernel reads or writes. It is dense and has any number of dimensions.
struct SourceTensor {
  std::string name;
  device::DType dtype = device::DType::kF32;
  int64_t elements = 0;
  bool is_read = true;
  kernels::DrawRange range;  // of the values that an input of a program gets
};

// A number that each launch passes.
struct SourceNumber {
  std::string name;
  std::string type;                           // "f64", "f32", "i8" to "i64", "u8" to "u64" or "bool"
  std::variant<int64_t, double, bool> value;  // of u64: its 64 bits
  device::ScalarBytes bytes;
};

// A parameter of the function that is one of SourceKernel::arguments.
struct SourceArgument {
  size_t index = 0;  // in SourceKernel::arguments
};
// A parameter that is one of SourceKernel::outputs.
struct SourceOutput {
  size_t index = 0;  // in SourceKernel::outputs
};
// A parameter of the function.
using SourceParameter = std::variant<SourceArgument, SourceOutput, SourceNumber>;

// The kernel: its code, its reference and its parameters.
struct SourceKernel {
  kernels::LibraryKernel declaration;  // its name and `arguments`; has no functions
  std::string origin;                  // the file and the config, for people
  device::Dialect dialect = device::Dialect::kOpenCl;
  SourceCode code;
  SourceCode reference;                 // computes the expected outputs, from the same parameters
  std::vector<SourceTensor> arguments;  // tensors that the kernel only reads
  std::vector<SourceTensor> outputs;    // tensors that the kernel writes
  std::vector<SourceParameter> parameters;
  ir::Tolerance tolerance;  // of the outputs

  // Returns true if a launch changes values that it reads, so that a repeated launch has other results.
  bool changes_what_it_reads() const;
};

// Returns "CUDA" or "OpenCL".
std::string_view LanguageName(device::Dialect dialect);

// Returns the reason why a buffer cannot be passed as a tensor; empty if it can. The buffer is dense and has the dtype
// and the number of elements of the tensor.
std::string WhyNotPassed(const SourceTensor& tensor, const PlanBuffer& buffer);

}  // namespace telemetry::worker::wrapper
