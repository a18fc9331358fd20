#include "worker/model/run_features.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/python_literal.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/strings.h"
#include "worker/codegen/emit/generate.h"
#include "worker/codegen/target.h"
#include "worker/ir/graph_record/ir_graph_record.h"
#include "worker/kernels/trace_problem.h"
#include "worker/model/config_features.h"
#include "worker/model/device_record.h"
#include "worker/model/feature_row.h"
#include "worker/model/launch_features.h"
#include "worker/repro/recorded_run.h"

namespace telemetry::worker::model {
namespace {

using device::DeviceProperties;
using record::Cat;
using record::Json;

constexpr size_t kTensors = 3;  // tensors with features of their own
constexpr size_t kSizes = 4;    // sizes of each of them, the innermost one first

// The inputs of a run, parsed from its texts.
struct Inputs {
  std::vector<std::vector<double>> shapes;
  std::vector<std::string> dtypes;
};

Inputs ReadInputs(const v1::Run& run) {
  Inputs inputs;
  const absl::StatusOr<Json> lists =
      record::ParseConfig(Cat("Config(shapes=", run.input_shapes(), ", dtypes=", run.dtypes(), ")"));
  if (!lists.ok()) return inputs;
  for (const Json& shape : lists->Find("shapes")->items) {
    std::vector<double>& sizes = inputs.shapes.emplace_back();
    for (const Json& size : shape.items) sizes.push_back(record::ParseDecimal(size.text).value_or(kNotKnown));
  }
  for (const Json& dtype : lists->Find("dtypes")->items) inputs.dtypes.push_back(dtype.text);
  return inputs;
}

// Returns the bytes of an element; NaN for a dtype that is not known.
double BytesOf(std::string_view dtype) {
  record::TakePrefix("torch.", &dtype);
  if (dtype == "bfloat16" || dtype == "float16" || dtype == "int16") return 2;
  if (dtype == "float32" || dtype == "int32") return 4;
  if (dtype == "float64" || dtype == "int64") return 8;
  if (dtype == "int8" || dtype == "uint8" || dtype == "bool" || dtype.starts_with("float8")) return 1;
  return kNotKnown;
}

void AddInputs(const Inputs& inputs, FeatureRow* row) {
  double elements = 0;
  double bytes = 0;
  for (size_t i = 0; i < inputs.shapes.size(); ++i) {
    double product = 1;
    for (const double size : inputs.shapes[i]) product *= size;
    elements += product;
    if (i < inputs.dtypes.size()) bytes += product * BytesOf(inputs.dtypes[i]);
  }
  row->Add("inputs.tensors", static_cast<double>(inputs.shapes.size()));
  row->Add("inputs.elements", elements);
  row->Add("inputs.bytes", bytes);
  const bool has_dtype = !inputs.dtypes.empty();
  row->Add("inputs.element_bytes", has_dtype ? static_cast<double>(BytesOf(inputs.dtypes[0])) : kNotKnown);
  row->Add("inputs.is_bfloat16", has_dtype ? (inputs.dtypes[0].ends_with("bfloat16") ? 1.0 : 0.0) : kNotKnown);
  for (size_t tensor = 0; tensor < kTensors; ++tensor) {
    for (size_t i = 0; i < kSizes; ++i) {
      const bool exists = tensor < inputs.shapes.size() && i < inputs.shapes[tensor].size();
      row->Add(Cat("inputs[", tensor, "].size[-", i + 1, "]"),
               exists ? inputs.shapes[tensor][inputs.shapes[tensor].size() - 1 - i] : kNotKnown);
    }
  }
}

double OrNotKnown(double value) { return value > 0 ? value : kNotKnown; }

// Adds the properties of the device, and the time that the work takes at its rates.
void AddDevice(const std::optional<DeviceProperties>& known, const kernels::Cost* cost, FeatureRow* row) {
  const DeviceProperties device = known.value_or(DeviceProperties());
  const bool is_cuda = device.dialect == device::Dialect::kCuda;
  std::string_view architecture = device.architecture;
  const bool has_sm = record::TakePrefix("sm_", &architecture);
  // Twice the clock: memory transfers at both edges.
  const double bytes_per_s = 2.0 * device.memory_clock_khz * 1000 * device.memory_bus_bits / 8;
  const double cycles_per_s = 1000.0 * device.clock_khz * device.compute_units;
  row->Add("device.is_cuda", known.has_value() ? (is_cuda ? 1.0 : 0.0) : kNotKnown);
  row->Add("device.sm", has_sm ? record::ParseDecimal(architecture).value_or(kNotKnown) : kNotKnown);
  row->Add("device.compute_units", OrNotKnown(device.compute_units));
  row->Add("device.clock_khz", OrNotKnown(device.clock_khz));
  row->Add("device.bytes_per_s", OrNotKnown(bytes_per_s));
  row->Add("device.l2_bytes", OrNotKnown(static_cast<double>(device.l2_bytes)));
  row->Add("device.global_bytes", OrNotKnown(static_cast<double>(device.global_bytes)));
  row->Add("work.flops", cost == nullptr ? kNotKnown : cost->flops);
  row->Add("work.bytes", cost == nullptr ? kNotKnown : cost->bytes);
  row->Add("work.flops_per_byte", cost == nullptr ? kNotKnown : cost->flops / cost->bytes);
  row->Add("work.l2_share",
           cost == nullptr ? kNotKnown : OrNotKnown(cost->bytes / static_cast<double>(device.l2_bytes)));
  row->Add("work.memory_s", cost == nullptr ? kNotKnown : cost->bytes / OrNotKnown(bytes_per_s));
  row->Add("work.cycles", cost == nullptr ? kNotKnown : cost->flops / OrNotKnown(cycles_per_s));
}

void AddFixed(const Inputs& inputs, const std::optional<DeviceProperties>& device, const kernels::Cost* cost,
              const GraphCounts* counts, FeatureRow* row) {
  AddInputs(inputs, row);
  AddDevice(device, cost, row);
  AddGraphFeatures(counts, row);
}

codegen::Target TargetOf(const repro::RecordedRun& run, const DeviceProperties& device) {
  codegen::Target target;
  if (run.dialect == device::Dialect::kCuda) {
    const absl::StatusOr<codegen::Target> named = codegen::Target::ForArchitecture(device.architecture);
    target = named.ok() ? *named : *codegen::Target::ForArchitecture("sm_90");
  }
  if (device.compute_units > 0) target.compute_units = device.compute_units;
  return target;
}

// Returns the config without members that are null: a null means the same as a missing key.
codegen::Config WithoutNulls(const codegen::Config& config) {
  const auto& members = config.json().members;
  const auto is_null = [](const auto& member) { return member.second.is_null(); };
  if (std::none_of(members.begin(), members.end(), is_null)) return config;
  Json object = config.json();
  object.members.erase(std::remove_if(object.members.begin(), object.members.end(), is_null), object.members.end());
  return codegen::Config(std::move(object));
}

}  // namespace

// The code generator for the configs of a run of a library kernel.
class RunFeatures::Library {
 public:
  static absl::StatusOr<std::unique_ptr<const Library>> Create(const v1::Run& run, const DeviceProperties& device) {
    ASSIGN_OR_RETURN(const repro::RecordedRun recorded, repro::ReadRun(run));
    ASSIGN_OR_RETURN(ir::DeviceIr ir, kernels::TraceProblem(*recorded.kernel, recorded.problem));
    auto library = std::make_unique<Library>();
    library->cost_ = kernels::ComputeCost(*recorded.kernel, recorded.problem, kernels::ListOutputs(ir));
    library->target_ = TargetOf(recorded, device);
    library->options_ = {.allow_tf32 = recorded.settings.dot_precision == runtime::DotPrecision::kTf32,
                         .fast_math = recorded.settings.fast_math};
    library->device_ = device;
    const Json graph = ir::graph_record::ExtractIrGraph(ir, {.run_id = run.run_id(),
                                                             .kernel_id = run.kernel_id(),
                                                             .kernel_name = run.kernel_name(),
                                                             .input_shapes = run.input_shapes(),
                                                             .device = "",
                                                             .on_warning = {}});
    ASSIGN_OR_RETURN(const v1::IrGraph record, record::sidecar::ParseIrRecord(graph));
    library->counts_ = CountOperations(record);
    library->ir_ = std::move(ir);
    return library;
  }

  const kernels::Cost& cost() const { return cost_; }
  const GraphCounts& counts() const { return counts_; }

  void AddLaunch(const codegen::Config& config, FeatureRow* row) const {
    const absl::StatusOr<codegen::GeneratedKernel> code = codegen::emit::Generate(ir_, config, target_, options_);
    if (!code.ok()) return AddLaunchFeatures(nullptr, row);
    const GeneratedLaunch launch = {.code = *code, .ir = ir_, .device = device_, .cost = cost_};
    AddLaunchFeatures(&launch, row);
  }

 private:
  ir::DeviceIr ir_;
  codegen::Target target_;
  codegen::GenerateOptions options_;
  DeviceProperties device_;
  kernels::Cost cost_;
  GraphCounts counts_;
};

const std::vector<std::string>& FeatureNames() {
  static const auto* const names = [] {
    auto* const collected = new std::vector<std::string>;
    FeatureRow row(collected);
    AddFixed({}, std::nullopt, nullptr, nullptr, &row);
    AddConfigFeatures(codegen::Config(), &row);
    AddLaunchFeatures(nullptr, &row);
    return collected;
  }();
  return *names;
}

RunFeatures::RunFeatures(const v1::Run& run, const std::optional<DeviceProperties>& device,
                         const std::optional<GraphCounts>& recorded) {
  const std::optional<DeviceProperties> known = device ? std::optional(RecordedPart(*device)) : std::nullopt;
  if (absl::StatusOr<std::unique_ptr<const Library>> library = Library::Create(run, known.value_or(DeviceProperties()));
      library.ok()) {
    library_ = *std::move(library);
  }
  const GraphCounts* counts = recorded ? &*recorded : nullptr;
  if (library_ != nullptr) counts = &library_->counts();
  FeatureRow row;
  AddFixed(ReadInputs(run), known, library_ == nullptr ? nullptr : &library_->cost(), counts, &row);
  fixed_ = row.values();
}

RunFeatures::~RunFeatures() = default;
RunFeatures::RunFeatures(RunFeatures&&) noexcept = default;

std::vector<float> RunFeatures::Of(const codegen::Config& config) const {
  const codegen::Config stated = WithoutNulls(config);
  FeatureRow row;
  AddConfigFeatures(stated, &row);
  if (library_ == nullptr) {
    AddLaunchFeatures(nullptr, &row);
  } else {
    library_->AddLaunch(stated, &row);
  }
  std::vector<float> features = fixed_;
  features.insert(features.end(), row.values().begin(), row.values().end());
  return features;
}

}  // namespace telemetry::worker::model
