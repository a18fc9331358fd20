#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tests/worker/wrapper/program/program_fixture.h"
#include "worker/debug/debug_options.h"
#include "worker/device/device.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::wrapper::program {

// The lines and files of a debugger.
struct Observed {
  std::string lines;
  std::map<std::string, std::string> files;  // by name
};

void ExpectSame(const Observed& actual, const Observed& expected);

// Returns a plan that reads memory that no kernel wrote: the sum of NaNs, its view at an offset, and a tensor with few
// elements.
Plan UnwrittenPlan();

// Runs plans with a debugger, and their programs with debug calls, on opencl:0, where the Python programs run with a
// replacement for CuPy (cupy_on_opencl/), or on the device TELEMETRY_TEST_DEVICE. Programs for CUDA need the toolkit,
// and CuPy for Python.
class DebuggedProgramTest : public ::testing::Test {
 protected:
  void SetUp() override;

  bool is_cuda() const { return device_->properties().dialect == device::Dialect::kCuda; }
  bool HasCupy();

  ProgramOptions OptionsFor(const debug::DebugOptions& debug) const;

  // Returns a new folder for a run. Runs write to the folder "values" in it.
  std::string NewFolder();

  // Runs the plans, one after the other, with the inputs of the programs and one debugger, which is a new one for each
  // call, as in a new process.
  Observed OfRunTime(absl::Span<const Plan> plans, debug::DebugOptions options, const std::string& folder);

  // Writes and runs a program of the plan, which must find its results right.
  Observed OfCpp(const Plan& plan, debug::DebugOptions options, const std::string& folder,
                 const std::string& flags = "--no-time");
  Observed OfPython(const Plan& plan, debug::DebugOptions options, const std::string& folder);

  // Write a program to the folder. Return the command that runs it there.
  std::string WriteCpp(const Plan& plan, const ProgramOptions& options, const std::string& folder);
  std::string WriteCpp(absl::Span<const PlanShape> shapes, const ProgramOptions& options, const std::string& folder);
  std::string WritePython(const Plan& plan, const ProgramOptions& options, const std::string& folder);
  std::string WritePython(absl::Span<const PlanShape> shapes, const ProgramOptions& options, const std::string& folder);

  // Compiles program.cpp.
  static void Compile(const Plan& plan, const ProgramOptions& options, const std::string& folder);

  // Runs a program and checks that it finds its results right. Returns its standard error, and the files that it saved.
  static Observed RunProgram(const std::string& folder, const std::string& command);

  // Compares both programs with a run and returns what the run's debugger showed.
  Observed Expect(const Plan& plan, const debug::DebugOptions& options, bool with_cpp = true);

  // Compiling a program takes seconds: of those in C++ only some are checked at level kNames.
  void ExpectAllLevels(const Plan& plan, bool with_names_in_cpp = false);

  std::shared_ptr<device::Device> device_;
  const TestFolder folder_;
  uint64_t seed_ = 3;
  int next_folder_ = 0;
};

}  // namespace telemetry::worker::wrapper::program
