#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "worker/device/device.h"
#include "worker/spec/launch_size.h"

namespace telemetry::worker::repro {

// The content of the program of a specification's kernel, independent of its language.
struct SpecProgramModel {
  // A kernel's source with its function, compiler options and launch.
  struct Code {
    std::string source;
    std::string function;
    std::vector<std::string> options;
    spec::LaunchSize size;
  };
  // An argument. Its contents are `embedded`, repeated until there are `bytes` of them, or else those of `file`.
  struct Argument {
    std::string name;
    std::string kind;  // "scalar", "read", "written", "local", "variable"
    bool is_variable_too = false;
    std::string type;  // "f32"
    size_t bytes = 0;
    std::string embedded;
    std::string file;      // beside the program
    std::string expected;  // the same with the expected contents; empty: none
    double absolute = 0;   // tolerances
    double relative = 0;
  };

  device::Dialect dialect = device::Dialect::kCuda;
  std::vector<std::string> comments;      // lines of the head
  std::vector<std::string> cuda_options;  // for the kernels that the program uses to take times
  Code kernel;
  std::optional<Code> reference;
  bool is_checked = true;
  std::string device;      // the name of the measurement's device
  double measured_ms = 0;  // 0: not known
  std::vector<Argument> arguments;
};

// Return the text of the program: C++17 for CUDA or OpenCL, Python 3 for CuPy or PyOpenCL.
std::string CppSpecProgram(const SpecProgramModel& model);
std::string PythonSpecProgram(const SpecProgramModel& model);

}  // namespace telemetry::worker::repro
