#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/debug/debug_options.h"
#include "worker/debug/debug_value.h"
#include "worker/debug/device_statistics.h"
#include "worker/debug/nan_watch.h"
#include "worker/debug/value_files.h"

namespace telemetry::worker::debug {

// Saves or prints the arguments of launches. The code that launches kernels holds a null pointer if debugging is off,
// and otherwise calls the debugger around each launch. Not thread-safe.
//
// Errors of the debugger do not affect the run. The debugger prints the first error of each kind.
class ValueDebugger {
 public:
  // Returns the current arguments of a launch. Called only if the debugger needs them.
  using ListValues = absl::FunctionRef<absl::StatusOr<std::vector<DebugValue>>()>;

  // Returns null at level 0. An empty `print` prints to standard error.
  static std::unique_ptr<ValueDebugger> Create(DebugOptions options, DebugPrint print = nullptr);
  // Creates a debugger with the options of DebugOptionsFromEnvironment. Returns the errors of that function.
  static absl::StatusOr<std::unique_ptr<ValueDebugger>> FromEnvironment();

  // Begins a run of a program. Prints the inputs at level 2, regardless of DebugOptions::kernels. Ignores outputs in
  // the list.
  void BeginProgram(std::string_view program, ListValues inputs);

  // Inspect the arguments of a launch, outputs included. Before the launch, outputs contain the earlier content of
  // their memory. The launch must be complete when AfterLaunch is called. `written` lists the memory
  // (DebugValue::memory_name) of its outputs.
  void BeforeLaunch(std::string_view kernel, ListValues values);
  void AfterLaunch(std::string_view kernel, absl::Span<const std::string> written, ListValues values);

  // Turns the debugger off for a kernel whose launches are not known beforehand (PicksAtRunTime). Prints once that such
  // calls are not supported.
  void StayOff(std::string_view kernel);

  // Returns true if values of kernels are saved or printed, not only their names.
  bool WantsAnyValues() const { return options_.level != DebugLevel::kNames; }
  // Returns true if values of this kernel are saved or printed.
  bool WantsValues(std::string_view kernel) const;

  // Returns the number in the file names of this kernel's last launch; 0: no tensor was saved.
  int saved_launch(std::string_view kernel) const {
    return options_.level == DebugLevel::kSave ? files_.launch(kernel) : 0;
  }

  // The first inspected tensor with a NaN in the current run; unset: none has one.
  const std::optional<FirstNan>& first_nan() const { return nans_.first(); }
  // The number of errors so far, including those that were not printed.
  int errors() const { return errors_; }

 private:
  ValueDebugger(DebugOptions options, DebugPrint print);

  void Look(std::string_view when, std::string_view kernel, std::string_view made_by, ListValues list);
  void LookAt(std::string_view when, std::string_view kernel, std::string_view made_by, const DebugValue& value);
  void Save(std::string_view when, std::string_view kernel, const DebugValue& value);
  void Print(std::string_view when, std::string_view kernel, const DebugValue& value,
             const TensorStatistics& statistics);
  absl::StatusOr<TensorStatistics> Measure(const runtime::Tensor& tensor);
  void Report(std::string_view doing, const absl::Status& status);

  const DebugOptions options_;
  const DebugPrint print_;
  std::set<std::string, std::less<>> kernels_;  // in lower case
  std::set<std::string, std::less<>> off_;      // kernels passed to StayOff
  std::set<std::pair<std::string, absl::StatusCode>> reported_;
  int errors_ = 0;
  ValueFiles files_;
  NanWatch nans_;
  // Errors are kept, so that a kernel that does not compile is not compiled again for every tensor.
  std::map<const device::Device*, absl::StatusOr<std::unique_ptr<DeviceStatistics>>> statistics_;
};

}  // namespace telemetry::worker::debug
