#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/codegen/target.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/debug/value_debugger.h"
#include "worker/debug_flags.h"
#include "worker/device/open_device.h"
#include "worker/output_file.h"
#include "worker/repro/program_files.h"
#include "worker/repro/repro_program.h"
#include "worker/spec/specification.h"
#include "worker/tune/best_configs.h"
#include "worker/tune/known_configs.h"
#include "worker/tune/spec_kernel.h"
#include "worker/tune/spec_subject.h"
#include "worker/tune/spec_task.h"
#include "worker/tune_flags.h"
#include "worker/wrapper/file/plan_file.h"
#include "worker/wrapper/file/shape_runner.h"
#include "worker/wrapper/file/symbolic_plan.h"
#include "worker/wrapper/memory_plan.h"
#include "worker/wrapper/program/check_run.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/wrapper_graph.h"

namespace telemetry::worker {
namespace {

using record::Cat;
using record::Counted;
using wrapper::MemoryPlan;
using wrapper::Plan;
using wrapper::file::ShapeRunner;
using wrapper::file::SymbolicPlan;
using wrapper::file::SymbolValues;
using wrapper::program::PlanShape;
using wrapper::program::ProgramOptions;

constexpr char kNotes[] =
    R"help(PLAN is the name of a plan that comes with the worker (see `plan list`) or a JSON file; worker/wrapper/README.md describes
the format.
)help";

// The maximum number of shapes of one command.
constexpr size_t kMostShapes = 64;

// The flags that choose a plan.
struct PlanFlags {
  std::string plan;
  std::vector<std::string> sizes = {};
  bool for_all_sizes = false;
  std::string device = {};
  std::string state_dir = DefaultStateDir("tune");

  void AddTo(cli::Flags& flags, const std::string& several = "") {
    flags.command().add_option("plan", plan, "Name or file of the plan")->required()->type_name("PLAN");
    AddPairs(flags, "size", sizes,
             absl::StrCat("Value of a symbol of the plan: keys=4096 (default: that of the plan)", several));
    flags.Switch("all-sizes", for_all_sizes,
                 "Plan memory for all values of the symbols within their bounds, instead of for these sizes");
    flags.Add("state-dir", state_dir, "Folder of the best configs found on this machine")->type_name("DIR");
  }

  // Returns the best config of this machine's attempts on the device; a notice, and nullopt, if there is none.
  absl::StatusOr<std::optional<codegen::Config>> BestConfig(
      const std::shared_ptr<const spec::Specification>& spec) const {
    ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> opened, tune::DeviceForSpec(*spec, device));
    ASSIGN_OR_RETURN(const std::shared_ptr<const tune::SpecKernel> kernel, tune::SpecKernel::Create(spec, opened));
    const tune::BestConfigCache cache(Cat(state_dir, "/best"));
    const absl::StatusOr<tune::BestConfig> best =
        tune::FindBestConfig(tune::MakeSpecRun(*kernel, opened->properties()), {.cache = &cache});
    if (best.ok()) return best->config;
    if (!absl::IsNotFound(best.status())) return best.status();
    spdlog::warn("{}: no config is known for {}; uses the default config; find one with telemetry-worker tune --spec",
                 spec->path, opened->properties().name);
    return std::nullopt;
  }

  // Returns the shapes of --size: each combination of the values of each symbol.
  absl::StatusOr<std::vector<SymbolValues>> Shapes() const {
    std::vector<SymbolValues> shapes(1);
    for (const std::string& size : sizes) {
      const size_t sign = std::min(size.find('='), size.size());
      const std::string name = size.substr(0, sign);
      std::vector<SymbolValues> combined;
      std::set<int64_t> values;
      const std::vector<std::string> texts = absl::StrSplit(size.substr(std::min(sign + 1, size.size())), ',');
      for (const std::string& text : texts) {
        int64_t value = 0;
        if (!absl::SimpleAtoi(text, &value) || shapes[0].contains(name)) {
          return absl::InvalidArgumentError(absl::StrCat(
              "--size ", size, ": expected NAME=VALUE with an integer, once for each symbol, such as n=4096"));
        }
        if (!values.insert(value).second) {
          return absl::InvalidArgumentError(absl::StrCat("--size ", size, ": ", value, " is given twice"));
        }
        for (const SymbolValues& shape : shapes) {
          combined.push_back(shape);
          combined.back().emplace(name, value);
        }
      }
      if (combined.size() > kMostShapes) {
        return absl::InvalidArgumentError(
            absl::StrCat("--size ", size, ": ", combined.size(), " shapes; at most ", kMostShapes, " are allowed"));
      }
      shapes = std::move(combined);
    }
    return shapes;
  }

  // Returns the shape of --size. INVALID_ARGUMENT: there are several.
  absl::StatusOr<SymbolValues> Shape() const {
    ASSIGN_OR_RETURN(const std::vector<SymbolValues> shapes, Shapes());
    if (shapes.size() == 1) return shapes[0];
    return absl::InvalidArgumentError(
        absl::StrCat("--size gives ", shapes.size(), " shapes, but this command and form have one; pass one value"));
  }

  // Reads the plan. A file that is missing is wrong usage.
  absl::StatusOr<std::shared_ptr<const SymbolicPlan>> Find() const {
    absl::StatusOr<std::shared_ptr<const SymbolicPlan>> found =
        SymbolicPlan::Find(plan, [flags = *this](const auto& spec) { return flags.BestConfig(spec); });
    if (absl::IsNotFound(found.status())) return absl::InvalidArgumentError(found.status().message());
    return found;
  }

  wrapper::MemoryScope Scope() const {
    return for_all_sizes ? wrapper::MemoryScope::kAllSizes : wrapper::MemoryScope::kTheseSizes;
  }
};

// Returns a plan with and without memory planning. A mistake in its file is wrong usage.
absl::StatusOr<MemoryPlan> OpenPlan(const PlanFlags& flags, Plan* given) {
  ASSIGN_OR_RETURN(const SymbolValues shape, flags.Shape());
  ASSIGN_OR_RETURN(const std::shared_ptr<const SymbolicPlan> plan, flags.Find());
  ASSIGN_OR_RETURN(*given, plan->At(shape));
  return wrapper::PlanMemory(*given, flags.Scope());
}

// Opens the device that can run a plan: that of the flag, or the first one that compiles the kernels that are given as
// source. Returns the errors of OpenDevice.
absl::StatusOr<std::shared_ptr<device::Device>> DeviceFor(const Plan& plan, const std::string& id) {
  if (!id.empty()) return device::OpenDevice(id);
  const wrapper::SourceKernel* source = wrapper::FindSourceKernel(plan);
  for (const device::DeviceProperties& properties : device::ListDevices()) {
    const bool compiles = source == nullptr || properties.dialect == source->dialect;
    if (compiles) return device::OpenDevice(device::DeviceId(properties));
  }
  return device::OpenDevice("");
}

// Returns "keys=16, queries=8".
std::string ShapeText(const SymbolValues& shape) { return absl::StrJoin(shape, ", ", absl::PairFormatter("=")); }

constexpr char kDeviceText[] = "One of `telemetry-worker devices` (default: the first that can run the plan)";

std::string PeakText(const MemoryPlan& planned) {
  return Cat("peak memory: ", planned.peak_bytes_before, " bytes before memory planning, ", planned.peak_bytes_after,
             " after; allocations: ", planned.allocations_before, " before, ", planned.allocations_after, " after\n");
}

// Returns the symbols of a plan, the sizes of its buffers as forms of them, and the largest peak within their bounds.
std::string AllSizesText(const Plan& plan, const MemoryPlan& planned) {
  std::string text = "\nfor all sizes:\n";
  for (const wrapper::PlanSymbol& symbol : plan.symbols) {
    text += Cat("symbol ", symbol.name, ": ", symbol.value, ", from ", symbol.min, " to ", symbol.max, "\n");
  }
  for (const wrapper::PlanBuffer& buffer : plan.buffers) {
    std::string sizes;
    for (size_t i = 0; i < buffer.sizes.size(); ++i) {
      sizes += Cat(sizes.empty() ? "" : ", ", buffer.FormOf(i).ToString(plan.symbols));
    }
    text += Cat(buffer.name, " ", ShortName(buffer.dtype), "[", sizes, "]\n");
  }
  const auto most = [](const Plan& of) {
    const std::optional<int64_t> bytes = wrapper::MostPeakBytes(of);
    return bytes.has_value() ? Cat("at most ", *bytes, " bytes") : std::string("more than 2^60 bytes");
  };
  return Cat(text, "peak memory within the bounds: ", most(plan), " before memory planning, ", most(planned.plan),
             " after\n");
}

class PlanListCommand final : public cli::Command {
 public:
  PlanListCommand()
      : Command({.name = "list",
                 .summary = "Print the plans that come with the worker, or those of files, one a line",
                 .examples = R"help(  telemetry-worker plan list
  telemetry-worker plan list mine/*.json
)help",
                 .notes = "Exit status: 0 printed; 2 a file is not a plan, or wrong usage."}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.command()
        .add_option("file", files_, "Plan files (default: the plans that come with the worker)")
        ->type_name("FILE");
  }

  absl::StatusOr<int> Run() override {
    std::vector<std::string> names = files_;
    for (const wrapper::file::SamplePlan& sample : wrapper::file::SamplePlans()) {
      if (files_.empty()) names.emplace_back(sample.name);
    }
    for (const std::string& name : names) {
      Plan plan;
      ASSIGN_OR_RETURN(const MemoryPlan planned, OpenPlan({.plan = name}, &plan));
      const auto calls = std::count_if(plan.lines.begin(), plan.lines.end(), wrapper::IsCall);
      std::cout << absl::StrFormat("%-16s  %s, %s, %s, peak memory %d bytes\n", name,
                                   Counted(plan.inputs.size(), "input"), Counted(static_cast<size_t>(calls), "call"),
                                   Counted(plan.outputs.size(), "output"), planned.peak_bytes_after);
    }
    return cli::kExitDone;
  }

 private:
  std::vector<std::string> files_;
};

// The flags of commands that write a plan as a program or graph.
struct FormFlags {
  PlanFlags plan;
  std::string form;
  std::string dialect = "cuda";
  std::string architecture = "sm_90";
  uint64_t seed = 1;
  bool is_unplanned = false;
  DebugFlags debug;

  void AddTo(cli::Flags& flags, const std::vector<std::string>& forms) {
    plan.AddTo(flags, "; several with commas, for programs: the code of each combination");
    flags.Add("as", form, "Form of the plan")->check(CLI::IsMember(forms));
    flags.Add("dialect", dialect, "Language of the kernels in programs")->check(CLI::IsMember({"cuda", "opencl"}));
    flags.Add("arch", architecture, "CUDA architecture of programs")->type_name("SM");
    flags
        .Add("device", plan.device,
             "Device that runs the references of kernels of specifications (default: the first that can run them)")
        ->type_name("DEVICE");
    flags.Add("seed", seed, "Seed of the inputs of programs")->type_name("N");
    flags.Switch("unplanned", is_unplanned, "Without memory planning");
    debug.AddTo(flags, "around each launch of a program");
  }

  absl::StatusOr<ProgramOptions> Options() const {
    ProgramOptions options = {.seed = seed, .debug = debug.Options()};
    if (dialect == "opencl") return options;
    absl::StatusOr<codegen::Target> target = codegen::Target::ForArchitecture(architecture);
    if (!target.ok()) return absl::InvalidArgumentError(absl::StrCat("--arch ", target.status().message()));
    options.target = *target;
    return options;
  }

  // Returns the plan at each shape, with memory planning if it is wanted. Only programs can have several shapes.
  absl::StatusOr<std::vector<PlanShape>> OpenShapes() const {
    ASSIGN_OR_RETURN(std::vector<SymbolValues> shapes, plan.Shapes());
    if (form == "graph") {
      ASSIGN_OR_RETURN(shapes[0], plan.Shape());
    }
    ASSIGN_OR_RETURN(const std::shared_ptr<const SymbolicPlan> symbolic, plan.Find());
    std::vector<PlanShape> opened;
    for (const SymbolValues& shape : shapes) {
      ASSIGN_OR_RETURN(Plan at_shape, symbolic->At(shape));
      if (!is_unplanned) {
        ASSIGN_OR_RETURN(MemoryPlan planned, wrapper::PlanMemory(at_shape, plan.Scope()));
        at_shape = std::move(planned.plan);
      }
      opened.push_back({.sizes = shape, .plan = std::move(at_shape)});
    }
    return opened;
  }

  // Returns the program or graph.
  absl::StatusOr<std::string> Write(const std::vector<PlanShape>& shapes, ProgramOptions options) const {
    for (const PlanShape& shape : shapes) {
      RETURN_IF_ERROR(wrapper::program::CheckFitsMemory(shape.plan));
      if (form == "graph" || options.references != nullptr || wrapper::FindSourceKernel(shape.plan) == nullptr)
        continue;
      ASSIGN_OR_RETURN(options.references, DeviceFor(shape.plan, plan.device));
    }
    if (shapes.size() > 1) {
      if (form == "cpp") return wrapper::program::CppProgram(shapes, options);
      if (form == "python") return wrapper::program::PythonProgram(shapes, options);
      return wrapper::program::FxProgram(shapes, options);
    }
    const Plan& written = shapes[0].plan;
    if (form == "cpp") return wrapper::program::CppProgram(written, options);
    if (form == "python") return wrapper::program::PythonProgram(written, options);
    if (form == "fx") return wrapper::program::FxProgram(written, options);
    v1::Run run;
    run.set_kernel_name(written.name);
    return Cat(record::sidecar::FormatIrRecord(wrapper::WrapperGraph(written, Cat(dialect, ":0")), run), "\n");
  }
};

class PlanShowCommand final : public cli::Command {
 public:
  PlanShowCommand()
      : Command({.name = "show",
                 .summary = "Print the lines of a plan before and after memory planning, its graph or its program",
                 .examples =
                     R"help(  telemetry-worker plan show attention                        the lines and the peak memory
  telemetry-worker plan show attention --size keys=4096       the same for another shape
  telemetry-worker plan show attention --all-sizes            memory planning that holds for every shape
  telemetry-worker plan show mine.json --as graph             a line of .wrapper.jsonl, without the ids of a run
  telemetry-worker plan show mine.json --as cpp --dialect opencl --debug-values 2 --debug-kernels softmax
  telemetry-worker plan show mine.json --as python
  telemetry-worker plan show mine.json --as fx                a torch.fx.GraphModule
)help",
                 .notes = absl::StrCat(kNotes,
                                       "Exit status: 0 printed; 1 no program can be written; 2 wrong usage, or "
                                       "the file is not a plan.")}) {}

  void AddFlags(cli::Flags& flags) override {
    flags_.form = "lines";
    flags_.AddTo(flags, {"lines", "graph", "cpp", "python", "fx"});
  }

  absl::StatusOr<int> Run() override {
    if (flags_.form == "lines") {
      Plan plan;
      ASSIGN_OR_RETURN(const MemoryPlan planned, OpenPlan(flags_.plan, &plan));
      std::cout << plan.DebugString() << "\nafter memory planning:\n"
                << planned.plan.DebugString() << "\n"
                << PeakText(planned) << (flags_.plan.for_all_sizes ? AllSizesText(plan, planned) : "");
      return cli::kExitDone;
    }
    ASSIGN_OR_RETURN(const ProgramOptions options, flags_.Options());
    ASSIGN_OR_RETURN(const std::vector<PlanShape> shapes, flags_.OpenShapes());
    ASSIGN_OR_RETURN(const std::string text, flags_.Write(shapes, options));
    std::cout << text;
    return cli::kExitDone;
  }

 private:
  FormFlags flags_;
};

class PlanWriteCommand final : public cli::Command {
 public:
  PlanWriteCommand()
      : Command(
            {.name = "write",
             .summary = "Write a plan as a standalone program, or its graph, to a file",
             .examples = R"help(  telemetry-worker plan write attention --dialect opencl              attention.cpp
  telemetry-worker plan write mine.json --as python --out mine.py --debug-values 1
  telemetry-worker plan write mine.json --as fx                       mine_fx.py, for PyTorch
  telemetry-worker plan write attention --size keys=16,64,256         a program of three shapes
  eval "$(telemetry-worker plan write mine.json)"                     writes, compiles and runs it
)help",
             .notes = absl::StrCat(
                 kNotes,
                 R"help(The program does not depend on this project. It checks its results, and prints its times (not with --as fx). The command that compiles and
runs the program is printed on standard output. A program of several shapes runs all of them, or those of its own flag --size; with
--as fx, make_module() returns a module that chooses the shape by the sizes of its inputs. An existing file with other content is not overwritten.
Exit status: 0 written; 1 not written; 2 wrong usage, or the file is not a plan.)help")}) {}

  void AddFlags(cli::Flags& flags) override {
    flags_.form = "cpp";
    flags_.AddTo(flags, {"cpp", "python", "fx", "graph"});
    flags.Add("out", out_, "Output file (default: NAME.cpp, NAME.py, NAME_fx.py or NAME.wrapper.jsonl in this folder)")
        ->type_name("FILE");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::vector<PlanShape> shapes, flags_.OpenShapes());
    ASSIGN_OR_RETURN(const ProgramOptions options, flags_.Options());
    const std::map<std::string, std::string> endings = {
        {"cpp", ".cpp"}, {"python", ".py"}, {"fx", "_fx.py"}, {"graph", ".wrapper.jsonl"}};
    const std::string path =
        out_.empty() ? Cat(wrapper::program::FileName(shapes[0].plan, options), endings.at(flags_.form)) : out_;
    ASSIGN_OR_RETURN(const std::string text, flags_.Write(shapes, options));
    RETURN_IF_ERROR(WriteOutputFile(path, text));
    spdlog::info("wrote {}", path);
    if (flags_.form == "cpp") {
      std::cout << repro::CppCommand(wrapper::program::PlanToCompile(shapes, options), options, path) << "\n";
    }
    if (flags_.form == "python" || flags_.form == "fx") std::cout << "python3 " << repro::ForShell(path) << "\n";
    return cli::kExitDone;
  }

 private:
  FormFlags flags_;
  std::string out_;
};

class PlanRunCommand final : public cli::Command {
 public:
  PlanRunCommand()
      : Command(
            {.name = "run",
             .summary = "Run a plan on a device and compare its outputs with those of the interpreter",
             .examples = R"help(  telemetry-worker plan run attention
  telemetry-worker plan run attention --size queries=64 --size keys=16,128,256     one process, three shapes
  telemetry-worker plan run mine.json --device cuda:0 --debug-values 2 --debug-kernels softmax,bmm
)help",
             .notes = absl::StrCat(
                 kNotes,
                 R"help(The inputs are drawn from the seed, including the predicates of conditionals. Several values of --size run each combination of
them: the plan is read once, and the shapes share one block of device memory. The interpreter evaluates the IR of the kernels on
the host, which is slow: use small shapes. For kernels of T1 specifications it runs the references of the specifications, on the
device.
Exit status: 0 the outputs are right; 1 wrong, or the plan could not run; 2 wrong usage, or the file is not a plan.)help")}) {
  }

  void AddFlags(cli::Flags& flags) override {
    plan_.AddTo(flags, "; several with commas: runs each combination");
    flags.Add("device", plan_.device, kDeviceText)->type_name("DEVICE");
    flags.Add("seed", seed_, "Seed of the inputs")->type_name("N");
    flags.Switch("unplanned", is_unplanned_, "Without memory planning");
    debug_.AddTo(flags, "around each launch on the device");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::vector<SymbolValues> shapes, plan_.Shapes());
    ASSIGN_OR_RETURN(const std::shared_ptr<const SymbolicPlan> plan, plan_.Find());
    // Mistakes are found before anything runs. The device can run the kernels of every shape.
    Plan widest;
    for (const SymbolValues& shape : shapes) {
      absl::StatusOr<Plan> at_shape = plan->At(shape);
      if (!at_shape.ok()) return WithShape(shapes, shape, at_shape.status());
      const bool is_wider = widest.lines.empty() || wrapper::FindSourceKernel(*at_shape) != nullptr;
      if (is_wider) widest = *std::move(at_shape);
    }
    ASSIGN_OR_RETURN(const std::shared_ptr<device::Device> device, DeviceFor(widest, plan_.device));
    const std::unique_ptr<debug::ValueDebugger> debugger = debug::ValueDebugger::Create(debug_.Options());
    ShapeRunner runner(plan, device,
                       {.plans_memory = !is_unplanned_, .scope = plan_.Scope(), .debugger = debugger.get()});
    bool all_right = true;
    std::cout << "on " << device->id() << " (" << device->properties().name << "):\n";
    for (const SymbolValues& shape : shapes) {
      if (shapes.size() > 1) std::cout << "at " << ShapeText(shape) << ":\n";
      const absl::StatusOr<bool> is_right = RunShape(runner, device, shape);
      if (!is_right.ok()) return WithShape(shapes, shape, is_right.status());
      all_right = all_right && *is_right;
    }
    if (shapes.size() > 1) {
      std::cout << "memory pool of the " << shapes.size()
                << " shapes, without inputs and outputs: " << runner.pool_bytes() << " bytes\n";
    }
    return all_right ? cli::kExitDone : cli::kExitFailed;
  }

 private:
  // Adds the shape to an error if there are several.
  static absl::Status WithShape(const std::vector<SymbolValues>& shapes, const SymbolValues& shape,
                                const absl::Status& status) {
    if (shapes.size() == 1) return status;
    return absl::Status(status.code(), Cat("at ", ShapeText(shape), ": ", status.message()));
  }

  // Runs a shape, prints the comparisons of the outputs, and returns true if all are right.
  absl::StatusOr<bool> RunShape(ShapeRunner& runner, const std::shared_ptr<device::Device>& device,
                                const SymbolValues& shape) const {
    ASSIGN_OR_RETURN(const std::shared_ptr<wrapper::PlanRunner> of_shape, runner.RunnerAt(shape));
    ASSIGN_OR_RETURN(const std::vector<ir::Comparison> outputs,
                     wrapper::program::RunAndCompare(of_shape.get(), device, seed_));
    bool all_right = true;
    const Plan& plan = of_shape->plan();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const wrapper::PlanBuffer& buffer = plan.buffer(plan.outputs[i]);
      std::cout << buffer.name << " " << buffer.LayoutText() << ": " << (outputs[i].ok() ? "right" : "WRONG") << ": "
                << outputs[i].ToString() << "\n";
      all_right = all_right && outputs[i].ok();
    }
    return all_right;
  }

  PlanFlags plan_;
  uint64_t seed_ = 1;
  bool is_unplanned_ = false;
  DebugFlags debug_;
};

}  // namespace

std::unique_ptr<cli::Command> NewPlan() {
  return std::make_unique<cli::CommandGroup>(
      cli::Help{.name = "plan",
                .summary = "Show, run and write programs of several kernels",
                .examples = R"help(  telemetry-worker plan list
  telemetry-worker plan show attention
  telemetry-worker plan run mine.json --device opencl:0
  telemetry-worker plan write mine.json --as python
)help",
                .notes = {}},
      std::vector<cli::NewCommand>{&cli::New<PlanListCommand>, &cli::New<PlanShowCommand>, &cli::New<PlanRunCommand>,
                                   &cli::New<PlanWriteCommand>});
}

}  // namespace telemetry::worker
