#include "worker/spec/specification.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/file_bytes.h"
#include "worker/spec/read_arguments.h"
#include "worker/spec/read_launch.h"
#include "worker/spec/read_parameters.h"
#include "worker/spec/read_verification.h"

namespace telemetry::worker::spec {
namespace {

// The names of the languages in T1, and those of Kernel Tuner.
constexpr std::array<std::pair<std::string_view, device::Dialect>, 4> kLanguages = {
    {{"CUDA", device::Dialect::kCuda},
     {"CuPy", device::Dialect::kCuda},
     {"NVCUDA", device::Dialect::kCuda},
     {"OpenCL", device::Dialect::kOpenCl}}};

absl::StatusOr<device::Dialect> ReadLanguage(const JsonMember& language) {
  ASSIGN_OR_RETURN(const std::string text, language.Text());
  for (const auto& [name, dialect] : kLanguages) {
    if (absl::EqualsIgnoreCase(text, record::AbslView(name))) return dialect;
  }
  return language.Unsupported(record::Cat("the language '", text, "' is not supported; supported are CUDA and OpenCL"));
}

absl::Status ReadBudget(const JsonMember& budget, Specification* spec) {
  ASSIGN_OR_RETURN(const std::vector<JsonMember> items, budget.Items());
  for (const JsonMember& item : items) {
    ASSIGN_OR_RETURN(const std::string type, item["Type"].Text());
    ASSIGN_OR_RETURN(const double value, item["BudgetValue"].Number());
    if (!(value > 0) || value > 1e9) return item["BudgetValue"].Error("expected a positive number");
    if (type == "ConfigurationCount") {
      spec->max_configs = std::max<int64_t>(1, static_cast<int64_t>(value));
    } else if (type == "TuningDuration") {
      spec->max_seconds = value;
    } else {
      return item["Type"].Unsupported(
          record::Cat("the budget '", type, "' is not supported; supported are ConfigurationCount and TuningDuration"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadKernel(const JsonMember& kernel, Specification* spec) {
  RETURN_IF_ERROR(kernel.CheckObject());
  ASSIGN_OR_RETURN(spec->dialect, ReadLanguage(kernel["Language"]));
  ASSIGN_OR_RETURN(spec->kernel_name, kernel["KernelName"].Text());
  ASSIGN_OR_RETURN(spec->kernel_file, kernel["KernelFile"].Text());
  if (spec->kernel_name.empty()) return kernel["KernelName"].Error("the name is empty");
  ASSIGN_OR_RETURN(const std::vector<JsonMember> options, kernel["CompilerOptions"].Items());
  for (const JsonMember& option : options) {
    ASSIGN_OR_RETURN(std::string text, option.Text());
    spec->compiler_options.push_back(std::move(text));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> Specification::names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  names.insert(names.end(), kExtraNames.begin(), kExtraNames.end());
  return names;
}

std::vector<Value> Specification::ValuesAt(const std::vector<size_t>& config) const {
  std::vector<Value> values;
  for (size_t i = 0; i < parameters.size(); ++i) values.push_back(parameters[i].values[config[i]]);
  values.push_back(Value::List(&problem_size));
  for (size_t d = 0; d < 3; ++d) values.push_back(d < problem_size.size() ? problem_size[d] : Value::Integer(1));
  return values;
}

std::vector<size_t> Specification::DefaultConfig() const {
  std::vector<size_t> config;
  for (const Parameter& parameter : parameters) config.push_back(parameter.default_index);
  return config;
}

absl::StatusOr<Specification> ParseSpecification(std::string_view json, const std::string& path) {
  ASSIGN_OR_RETURN(const record::Json root, record::ParseJson(json));
  const JsonMember file(&root, "");
  RETURN_IF_ERROR(file.CheckObject());
  Specification spec;
  spec.path = path;
  spec.folder = std::filesystem::path(path).parent_path().string();
  const JsonMember kernel = file["KernelSpecification"];
  RETURN_IF_ERROR(ReadKernel(kernel, &spec));
  RETURN_IF_ERROR(ReadProblemSize(kernel["ProblemSize"], &spec));
  RETURN_IF_ERROR(ReadParameters(file["ConfigurationSpace"]["TuningParameters"], &spec));
  RETURN_IF_ERROR(ReadConstraints(file["ConfigurationSpace"]["Conditions"], &spec));
  ASSIGN_OR_RETURN(spec.launch, ReadLaunch(kernel, spec));
  RETURN_IF_ERROR(ReadArguments(kernel["Arguments"], &spec));
  RETURN_IF_ERROR(ReadVerification(kernel, &spec));
  RETURN_IF_ERROR(ReadBudget(file["Budget"], &spec));
  return spec;
}

absl::StatusOr<Specification> ReadSpecification(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string json, ReadFileBytes(path, SpecificationLimits::kFileBytes));
  absl::StatusOr<Specification> spec = ParseSpecification(json, path);
  if (spec.ok()) return spec;
  return absl::Status(spec.status().code(), record::Cat(path, ": ", std::string(spec.status().message())));
}

}  // namespace telemetry::worker::spec
