#include "worker/repro/recorded_run.h"

#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "proto/record/strings.h"
#include "worker/kernels/kernel_spec.h"
#include "worker/runtime/tensor.h"
#include "worker/tune/library_subject.h"

namespace telemetry::worker::repro {

using device::Dialect;
using record::Cat;
using record::Json;
using runtime::DeviceTypeName;

namespace {

absl::Status NotUnderstood(std::string_view what, std::string_view text) {
  return absl::UnimplementedError(Cat("this version cannot parse the run's ", what, ": ", text));
}

// Returns one argument per tensor: "x=4096x2560:torch.float16" for the shape "(4096, 2560)" and "torch.float16".
absl::StatusOr<std::vector<std::string>> TensorArguments(const kernels::LibraryKernel& kernel, const v1::Run& run) {
  const absl::StatusOr<Json> lists =
      record::ParseConfig(Cat("Config(shapes=", run.input_shapes(), ", dtypes=", run.dtypes(), ")"));
  if (!lists.ok()) return NotUnderstood("input", Cat(run.input_shapes(), " ", run.dtypes()));
  const std::vector<Json>& shapes = lists->Find("shapes")->items;
  const std::vector<Json>& dtypes = lists->Find("dtypes")->items;
  if (shapes.size() != kernel.tensors.size() || dtypes.size() != shapes.size()) {
    return NotUnderstood(
        "input", Cat("kernel '", kernel.name, "' takes ", record::Counted(kernel.tensors.size(), "tensor"), ", not ",
                     run.input_shapes(), " of ", run.dtypes()));
  }
  std::vector<std::string> arguments;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string shape;
    for (const Json& size : shapes[i].items) shape += Cat(shape.empty() ? "" : "x", size.text);
    arguments.push_back(Cat(kernel.tensors[i].name, "=", shape, ":", dtypes[i].text));
  }
  return arguments;
}

// Returns the flags as arguments. The kernel's source contains them (tune/library_subject.cc).
std::vector<std::string> FlagArguments(const kernels::LibraryKernel& kernel, std::string_view source) {
  std::vector<std::string> arguments;
  for (const kernels::NumberArgument& number : kernel.numbers) {
    if (!number.is_flag) continue;
    for (const std::string_view value : {"true", "false"}) {
      const std::string argument = Cat(number.name, "=", value);
      if (source.find(Cat("\n// ", argument, "\n")) != std::string_view::npos) arguments.push_back(argument);
    }
  }
  return arguments;
}

absl::Status NotOurs(const v1::Run& run, std::string_view why) {
  return absl::UnimplementedError(Cat("programs can be written only for kernels of the library, and '",
                                      run.kernel_name(), "' is not one of them", why,
                                      "; see the run's kernel_source and the config's text"));
}

absl::Status ReadSettings(const v1::Run& run, RecordedRun* read) {
  if (!run.has_settings_json()) return NotUnderstood("settings", "none are recorded");
  const absl::StatusOr<Json> json = record::ParseJson(run.settings_json());
  if (!json.ok()) return NotUnderstood("settings", run.settings_json());
  std::vector<runtime::NamedSetting> named;
  for (const auto& [name, value] : json->members) {
    if (name == "backend") {
      read->dialect = value.text == DeviceTypeName(Dialect::kOpenCl) ? Dialect::kOpenCl : Dialect::kCuda;
      // The kernel's name is not enough, because Helion's examples have kernels with the same names.
      if (value.text != DeviceTypeName(read->dialect))
        return NotOurs(run, Cat(", because another tuner measured it (backend '", value.text, "')"));
    } else if (!value.is_null()) {
      named.emplace_back(name, value.kind == Json::Kind::kString ? value.text : record::ToJson(value));
    }
  }
  absl::StatusOr<runtime::Settings> settings = runtime::MakeSettings(named);
  if (!settings.ok()) return NotUnderstood("settings", Cat(settings.status().message()));
  read->settings = *settings;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecordedRun> ReadRun(const v1::Run& run) {
  const absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(run.kernel_name());
  if (!kernel.ok()) {
    return NotOurs(run, "");
  }
  RecordedRun read = {.kernel = *kernel};
  RETURN_IF_ERROR(ReadSettings(run, &read));
  ASSIGN_OR_RETURN(std::vector<std::string> arguments, TensorArguments(**kernel, run));
  for (std::string& flag : FlagArguments(**kernel, run.kernel_source())) arguments.push_back(std::move(flag));
  absl::StatusOr<kernels::Problem> problem = kernels::ParseProblem(**kernel, arguments);
  if (!problem.ok()) return NotUnderstood("input", Cat(problem.status().message()));
  read.problem = *std::move(problem);

  const device::DeviceProperties device = {.dialect = read.dialect, .name = run.hardware()};
  if (tune::MakeLibraryRun(**kernel, read.problem, read.settings, device).run_id() != run.run_id()) {
    read.notices.push_back(
        "the kernel's source differs from the measured one; the program uses the source of this version");
  }
  if (!read.settings.static_shapes) {
    read.notices.push_back("the run was measured with static_shapes=false, but the program's code has fixed sizes");
  }
  return read;
}

}  // namespace telemetry::worker::repro
