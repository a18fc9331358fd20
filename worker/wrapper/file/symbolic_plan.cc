#include "worker/wrapper/file/symbolic_plan.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/strings.h"
#include "worker/spec/file_bytes.h"
#include "worker/spec/json_member.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/file/plan_reader.h"

namespace telemetry::worker::wrapper::file {

using record::Cat;
using record::Counted;
using record::Json;
using spec::JsonMember;

namespace {

using Limits = PlanFileLimits;
using SharedPlan = std::shared_ptr<const SymbolicPlan>;

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return path.empty() ? status : absl::Status(status.code(), Cat(path, ": ", status.message()));
}

}  // namespace

SymbolicPlan::SymbolicPlan(Json root, std::optional<SpecFiles> specs, std::string path)
    : root_(std::move(root)),
      kernels_(specs.has_value() ? std::make_unique<SpecKernels>(*std::move(specs)) : nullptr),
      path_(std::move(path)) {}

absl::StatusOr<SharedPlan> SymbolicPlan::Make(std::string_view json, std::optional<SpecFiles> specs,
                                              const std::string& path) {
  if (json.size() > Limits::kFileBytes) {
    return absl::InvalidArgumentError(Cat(json.size(), " bytes; at most ", Limits::kFileBytes, " are allowed"));
  }
  absl::StatusOr<Json> root = record::ParseJson(json);
  if (!root.ok()) return WithPath(path, root.status());
  std::shared_ptr<SymbolicPlan> plan(new SymbolicPlan(*std::move(root), std::move(specs), path));
  if (const absl::Status status = plan->ReadHead(); !status.ok()) return WithPath(path, status);
  return plan;
}

absl::StatusOr<SharedPlan> SymbolicPlan::Parse(std::string_view json, std::optional<SpecFiles> specs) {
  return Make(json, std::move(specs), "");
}

absl::StatusOr<SharedPlan> SymbolicPlan::Read(const std::string& path, FindBestConfig find_best) {
  ASSIGN_OR_RETURN(const std::string json, spec::ReadFileBytes(path, Limits::kFileBytes));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return Make(json, SpecFiles{.folder = folder, .find_best = std::move(find_best)}, path);
}

absl::StatusOr<SharedPlan> SymbolicPlan::Find(const std::string& name_or_path, FindBestConfig find_best) {
  std::vector<std::string> names;
  for (const SamplePlan& sample : SamplePlans()) {
    if (sample.name == name_or_path) return Parse(sample.json);
    names.emplace_back(sample.name);
  }
  absl::StatusOr<SharedPlan> plan = Read(name_or_path, std::move(find_best));
  if (!absl::IsNotFound(plan.status())) return plan;
  return absl::NotFoundError(
      Cat(plan.status().message(), "; the plans that come with the worker are ", absl::StrJoin(names, ", ")));
}

// Reads the symbols, and the inputs as far as they are described correctly: At() reports other mistakes.
absl::Status SymbolicPlan::ReadHead() {
  const JsonMember file(&root_, "");
  RETURN_IF_ERROR(file.CheckObject());
  ASSIGN_OR_RETURN(const PlanSymbols symbols, PlanSymbols::Read(file["symbols"], {}));
  symbols_ = symbols.symbols();
  const std::vector<JsonMember> inputs = file["inputs"].Items().value_or(std::vector<JsonMember>());
  for (const JsonMember& input : inputs) {
    inputs_.emplace_back();
    input_dimensions_.emplace_back();
    if (!input.CheckObject().ok()) continue;
    inputs_.back() = input["name"].Text().value_or("").substr(0, Limits::kNameBytes);
    const std::vector<JsonMember> sizes = input["sizes"].Items().value_or(std::vector<JsonMember>());
    input_dimensions_.back() = sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!sizes[i].is_text() || !symbols.Contains(sizes[i].json().text)) continue;
      symbol_dimensions_.push_back({.input = inputs_.size() - 1, .dimension = i, .symbol = sizes[i].json().text});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> SymbolicPlan::Build(const SymbolValues& sizes) const {
  const JsonMember file(&root_, "");
  ASSIGN_OR_RETURN(PlanSymbols symbols, PlanSymbols::Read(file["symbols"], sizes));
  return ReadPlanLines(file, std::move(symbols), kernels_.get());
}

absl::StatusOr<Plan> SymbolicPlan::At(const SymbolValues& sizes) const {
  absl::StatusOr<Plan> plan = Build(sizes);
  return plan.ok() ? std::move(plan) : WithPath(path_, plan.status());
}

absl::StatusOr<SymbolValues> SymbolicPlan::SizesOf(absl::Span<const std::vector<int64_t>> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return WithPath(path_, absl::InvalidArgumentError(Cat("the plan has ", Counted(inputs_.size(), "input"), ", but ",
                                                          inputs.size(), " are given")));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() == input_dimensions_[i]) continue;
    return WithPath(path_, absl::InvalidArgumentError(Cat("input '", inputs_[i], "' has ",
                                                          Counted(input_dimensions_[i], "dimension"), ", but ",
                                                          inputs[i].size(), " are given")));
  }
  SymbolValues values;
  std::map<std::string, const SymbolDimension*> origins;
  for (const SymbolDimension& known : symbol_dimensions_) {
    const int64_t size = inputs[known.input][known.dimension];
    const auto [value, is_new] = values.emplace(known.symbol, size);
    if (is_new) origins[known.symbol] = &known;
    if (value->second == size) continue;
    const SymbolDimension& other = *origins[known.symbol];
    return WithPath(path_, absl::InvalidArgumentError(Cat("symbol '", known.symbol, "' is ", value->second,
                                                          " in dimension ", other.dimension, " of input '",
                                                          inputs_[other.input], "', but ", size, " in dimension ",
                                                          known.dimension, " of input '", inputs_[known.input], "'")));
  }
  return values;
}

}  // namespace telemetry::worker::wrapper::file
