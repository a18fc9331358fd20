#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/emit/generate.h"
#include "worker/codegen/target.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/device/compile_options.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_record/ir_graph_record.h"
#include "worker/kernels/library.h"
#include "worker/kernels/trace_problem.h"
#include "worker/spec/specification.h"
#include "worker/tune/spec_kernel.h"

namespace telemetry::worker {
namespace {

struct ShowCodeFlags {
  std::string kernel;
  std::string config;
  std::string spec;
  std::string dialect = "cuda";
  std::string architecture = "sm_90";
  std::vector<std::string> arguments;
  bool ir = false;
  bool debug = false;
  bool space = false;
};

absl::StatusOr<codegen::Target> ParseTarget(const ShowCodeFlags& flags) {
  if (flags.dialect == "opencl") return codegen::Target();
  absl::StatusOr<codegen::Target> target = codegen::Target::ForArchitecture(flags.architecture);
  if (!target.ok()) return absl::InvalidArgumentError(absl::StrCat("--arch ", target.status().message()));
  return target;
}

// Returns the shapes in the format of the sidecars: "[(4096, 2560), (2560,)]".
std::string InputShapes(const kernels::Problem& problem) {
  const auto shape = [](std::string* out, const kernels::TensorSpec& tensor) {
    absl::StrAppend(out, "(", absl::StrJoin(tensor.sizes, ", "), tensor.sizes.size() == 1 ? ",)" : ")");
  };
  return absl::StrCat("[", absl::StrJoin(problem.tensors, ", ", shape), "]");
}

std::string GraphLine(const ShowCodeFlags& flags, const kernels::Problem& problem, const ir::DeviceIr& device_ir) {
  return record::ToJson(ir::graph_record::ExtractIrGraph(
      device_ir, {.kernel_name = flags.kernel,
                  .input_shapes = InputShapes(problem),
                  .device = absl::StrCat(flags.dialect, ":0"),
                  .on_warning = [](const std::string& warning) { spdlog::warn("{}", warning); }}));
}

absl::StatusOr<std::string> GenerateSource(const ShowCodeFlags& flags, const ir::DeviceIr& device_ir,
                                           const codegen::Target& target) {
  codegen::Config config = codegen::ConfigSpaceFor(device_ir).Default();
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(codegen::Config parsed, codegen::Config::Parse(flags.config));
    config = std::move(parsed);
  }
  ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, codegen::emit::Generate(device_ir, config, target));
  if (target.dialect != device::Dialect::kCuda) return generated.source;
  return absl::StrCat("// NVRTC options: ", absl::StrJoin(device::CudaCompileOptions(flags.architecture), " "), "\n",
                      generated.source);
}

// Returns the source of a config of a specification, as it is compiled.
absl::StatusOr<std::string> ShowSpec(const ShowCodeFlags& flags) {
  ASSIGN_OR_RETURN(spec::Specification read, spec::ReadSpecification(flags.spec));
  ASSIGN_OR_RETURN(const std::shared_ptr<const tune::SpecKernel> kernel,
                   tune::SpecKernel::Create(std::make_shared<const spec::Specification>(std::move(read)), nullptr));
  if (flags.space) {
    const codegen::ConfigEnumeration* configs = kernel->config_space().enumeration();
    return absl::StrCat(kernel->config_space().DebugString(), configs->size(), " configs fulfil the conditions\n");
  }
  codegen::Config config = kernel->config_space().Default();
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(config, codegen::Config::Parse(flags.config));
  }
  ASSIGN_OR_RETURN(codegen::GeneratedKernel generated, kernel->Generate(config));
  return std::move(generated.source);
}

absl::StatusOr<std::string> Show(const ShowCodeFlags& flags) {
  RETURN_IF_ERROR(CheckKernelOrSpec(flags.kernel, flags.spec));
  if (!flags.spec.empty()) return ShowSpec(flags);
  absl::StatusOr<const kernels::LibraryKernel*> kernel = kernels::FindKernel(flags.kernel);
  if (!kernel.ok()) return absl::InvalidArgumentError(kernel.status().message());
  ASSIGN_OR_RETURN(kernels::Problem problem, kernels::ParseProblem(**kernel, flags.arguments));
  ASSIGN_OR_RETURN(ir::DeviceIr device_ir, kernels::TraceProblem(**kernel, problem));
  if (flags.ir) return GraphLine(flags, problem, device_ir);
  if (flags.debug) return ir::DebugString(device_ir);
  ASSIGN_OR_RETURN(codegen::Target target, ParseTarget(flags));
  if (flags.space) return codegen::ConfigSpaceFor(device_ir, target).DebugString();
  return GenerateSource(flags, device_ir, target);
}

class ShowCodeCommand final : public cli::Command {
 public:
  ShowCodeCommand()
      : Command(
            {.name = "show-code",
             .summary = "Print the code that is generated for a kernel and a config",
             .examples =
                 R"help(  telemetry-worker show-code softmax                                            CUDA C++ of the default config
  telemetry-worker show-code softmax --kernel-config "Config(block_sizes=[4], num_warps=8)"
  telemetry-worker show-code bmm --dialect opencl --arg x=4x100x60:f32          other arguments follow from x
  telemetry-worker show-code attention --arg causal=true --arch sm_80
  telemetry-worker show-code --spec conv.json --kernel-config "Config(tile=2)"    your own kernel with a config's defines
  telemetry-worker show-code softmax --space                                    the config space
  telemetry-worker show-code softmax --ir                                       the IR as a line of .ir.jsonl, without
                                                                                the ids of a run
)help",
             .notes =
                 R"help(Exit status: 0 printed; 1 no code can be generated; 2 wrong usage, argument or config.)help"}) {
  }

  void AddFlags(cli::Flags& flags) override {
    AddKernelOrSpec(flags, flags_.kernel, flags_.spec);
    flags.Add("kernel-config", flags_.config, "Config in Helion's syntax; missing keys have their defaults")
        ->type_name("CONFIG");
    flags.Add("dialect", flags_.dialect, "Language of the code")->check(CLI::IsMember({"cuda", "opencl"}));
    flags
        .Add("arch", flags_.architecture,
             "CUDA architecture of the code; sm_90 and sm_90a give the same code, which compiles only as sm_90a if it "
             "uses wgmma")
        ->type_name("SM");
    AddArguments(flags, flags_.arguments);
    CLI::Option* ir = flags.Switch("ir", flags_.ir, "Print the IR as a graph in one JSON line instead");
    CLI::Option* debug = flags.Switch("debug", flags_.debug, "Print the IR as text instead")->excludes(ir);
    flags.Switch("space", flags_.space, "Print the config space instead")->excludes(ir)->excludes(debug);
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::string text, Show(flags_));
    std::cout << text << (text.empty() || text.back() == '\n' ? "" : "\n");
    return cli::kExitDone;
  }

 private:
  ShowCodeFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewShowCode() { return cli::New<ShowCodeCommand>(); }

}  // namespace telemetry::worker
