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

// Saves or prints what launches read and write. Who launches holds a null pointer where it is off, and tells it of each
// launch otherwise. Not thread-safe.
//
// Nothing that goes wrong with it disturbs the run: it is printed as an error, once for each kind.
class ValueDebugger {
 public:
  // Makes the arguments of a launch as they are now; called where they are wanted.
  using ListValues = absl::FunctionRef<absl::StatusOr<std::vector<DebugValue>>()>;

  // Null at level 0. Without `print`: to standard error.
  static std::unique_ptr<ValueDebugger> Create(DebugOptions options, DebugPrint print = nullptr);
  // Of DebugOptionsFromEnvironment, whose errors it has.
  static absl::StatusOr<std::unique_ptr<ValueDebugger>> FromEnvironment();

  // A run of a program begins. Its inputs are printed at level 2, whatever kernels are wanted; outputs in the list are
  // left out.
  void BeginProgram(std::string_view program, ListValues inputs);

  // Around a launch. What it reads and writes, outputs included, is all there both times: before, outputs hold what was
  // in their memory. The launch is over at AfterLaunch. `written`: the memory (DebugValue::memory_name) of its outputs.
  void BeforeLaunch(std::string_view kernel, ListValues values);
  void AfterLaunch(std::string_view kernel, absl::Span<const std::string> written, ListValues values);

  // For calls of which nobody knows beforehand which kernel they launch: says once that they are not supported. Nothing
  // of this kernel is shown from then on.
  void StayOff(std::string_view kernel);

  // Whether values of this kernel are saved or printed.
  bool WantsValues(std::string_view kernel) const;

  // The number that the files of this kernel's last launch have in their names; 0: none was saved.
  int saved_launch(std::string_view kernel) const {
    return options_.level == DebugLevel::kSave ? files_.launch(kernel) : 0;
  }

  // Of the run that began last, among what was looked at.
  const std::optional<FirstNan>& first_nan() const { return nans_.first(); }
  // What went wrong so far, each time.
  int errors() const { return errors_; }

 private:
  ValueDebugger(DebugOptions options, DebugPrint print);

  void Look(std::string_view when, std::string_view kernel, std::string_view made_by, ListValues list);
  void LookAt(std::string_view when, std::string_view kernel, std::string_view made_by, const DebugValue& value);
  void Save(std::string_view when, std::string_view kernel, const DebugValue& value);
  void Print(std::string_view when, std::string_view kernel, const DebugValue& value,
             const TensorStatistics& statistics);
  absl::StatusOr<TensorStatistics> Measure(const Tensor& tensor);
  void Report(std::string_view doing, const absl::Status& status);

  const DebugOptions options_;
  const DebugPrint print_;
  std::set<std::string, std::less<>> kernels_;  // in lower case
  std::set<std::string, std::less<>> off_;
  std::set<std::pair<std::string, absl::StatusCode>> reported_;
  int errors_ = 0;
  ValueFiles files_;
  NanWatch nans_;
  // An error stays: what does not compile once need not be tried for every tensor.
  std::map<const Device*, absl::StatusOr<std::unique_ptr<DeviceStatistics>>> statistics_;
};

}  // namespace telemetry::worker::debug
