#include "worker/debug/value_debugger.h"

#include <cstdio>

#include "absl/strings/ascii.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/debug/dense_bytes.h"

namespace telemetry::worker::debug {
namespace {

using record::AbslView;
using record::Cat;
using runtime::Tensor;

constexpr char kInputs[] = "program_inputs";
constexpr char kBefore[] = "before_launch";
constexpr char kAfter[] = "after_launch";

void PrintToStandardError(std::string_view text) {
  const std::string line = Cat(text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string InLowerCase(std::string_view name) { return absl::AsciiStrToLower(AbslView(name)); }

}  // namespace

std::unique_ptr<ValueDebugger> ValueDebugger::Create(DebugOptions options, DebugPrint print) {
  if (!options.is_on()) return nullptr;
  if (!print) print = &PrintToStandardError;
  return std::unique_ptr<ValueDebugger>(new ValueDebugger(std::move(options), std::move(print)));
}

absl::StatusOr<std::unique_ptr<ValueDebugger>> ValueDebugger::FromEnvironment() {
  ASSIGN_OR_RETURN(DebugOptions options, DebugOptionsFromEnvironment());
  return Create(std::move(options));
}

ValueDebugger::ValueDebugger(DebugOptions options, DebugPrint print)
    : options_(std::move(options)), print_(std::move(print)), files_(options_.folder) {
  for (const std::string& name : options_.kernels) kernels_.insert(InLowerCase(name));
}

bool ValueDebugger::WantsValues(std::string_view kernel) const {
  if (options_.level == DebugLevel::kNames || off_.count(kernel) > 0) return false;
  return kernels_.empty() || kernels_.count(InLowerCase(kernel)) > 0;
}

void ValueDebugger::BeginProgram(std::string_view program, ListValues inputs) {
  nans_.Begin();
  if (options_.level == DebugLevel::kPrint) Look(kInputs, program, "", inputs);
}

void ValueDebugger::BeforeLaunch(std::string_view kernel, ListValues values) {
  if (options_.level == DebugLevel::kNames && off_.count(kernel) == 0) print_(Cat("[", kBefore, " - ", kernel, "]"));
  if (!WantsValues(kernel)) return;
  files_.BeginLaunch(kernel);
  Look(kBefore, kernel, "", values);
}

void ValueDebugger::AfterLaunch(std::string_view kernel, absl::Span<const std::string> written, ListValues values) {
  for (const std::string& memory : written) nans_.Wrote(kernel, memory);
  if (options_.level == DebugLevel::kNames && off_.count(kernel) == 0) print_(Cat("[", kAfter, " - ", kernel, "]"));
  if (WantsValues(kernel)) Look(kAfter, kernel, kernel, values);
}

void ValueDebugger::StayOff(std::string_view kernel) {
  if (!off_.emplace(kernel).second) return;
  print_(Cat("[", kernel,
             "] picks among several kernels at run time, which is not supported: its values are not shown; give it one "
             "config"));
}

void ValueDebugger::Look(std::string_view when, std::string_view kernel, std::string_view made_by, ListValues list) {
  const absl::StatusOr<std::vector<DebugValue>> values = list();
  if (!values.ok()) return Report("look at", values.status());
  for (const DebugValue& value : *values) {
    if (when == kInputs && value.is_output) continue;
    if (value.tensor() != nullptr) {
      LookAt(when, kernel, made_by, value);
    } else if (options_.level == DebugLevel::kPrint) {
      print_(Cat("[", when, " - ", kernel, " - ", value.name, "] ", NumberText(value)));
    }
  }
}

void ValueDebugger::LookAt(std::string_view when, std::string_view kernel, std::string_view made_by,
                           const DebugValue& value) {
  if (options_.level == DebugLevel::kSave) Save(when, kernel, value);
  const absl::StatusOr<TensorStatistics> statistics = Measure(*value.tensor());
  if (!statistics.ok()) return Report("look at", statistics.status());
  if (options_.level == DebugLevel::kPrint) Print(when, kernel, value, *statistics);
  if (nans_.See(value, *statistics, made_by)) print_(Cat("[first_nan] ", nans_.first()->ToString()));
}

void ValueDebugger::Save(std::string_view when, std::string_view kernel, const DebugValue& value) {
  const absl::Status status = files_.Save(when, kernel, value.name, *value.tensor());
  if (!status.ok()) Report("save", status);
}

void ValueDebugger::Print(std::string_view when, std::string_view kernel, const DebugValue& value,
                          const TensorStatistics& statistics) {
  const Tensor& tensor = *value.tensor();
  std::vector<double> elements;
  if (statistics.elements <= kMostShownElements) {
    const absl::StatusOr<std::vector<std::byte>> dense = DenseBytes(tensor);
    if (!dense.ok()) return Report("look at", dense.status());
    elements = DecodeValues(tensor.dtype, *dense);
  }
  // Before the launch, the memory of an output contains no result yet.
  const bool is_unwritten = when == kBefore && value.is_output;
  print_(Cat("[", when, " - ", kernel, " - ", value.name, "] ", is_unwritten ? "(output) " : "",
             TensorText(value, statistics, elements)));
}

absl::StatusOr<TensorStatistics> ValueDebugger::Measure(const Tensor& tensor) {
  if (tensor.host != nullptr) return ComputeStatistics(tensor.host->RowMajor());
  const auto [of_device, is_new] = statistics_.try_emplace(tensor.device.get());
  if (is_new) of_device->second = DeviceStatistics::Create(tensor.device);
  if (!of_device->second.ok()) return of_device->second.status();
  return (*of_device->second)->Compute(tensor);
}

void ValueDebugger::Report(std::string_view doing, const absl::Status& status) {
  ++errors_;
  if (!reported_.emplace(doing, status.code()).second) return;
  print_(Cat("[error] cannot ", doing, " values: ", status.message(),
             ". The run continues; further errors of this kind are not shown"));
}

}  // namespace telemetry::worker::debug
