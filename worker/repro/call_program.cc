#include "worker/repro/call_program.h"

#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/codegen/access.h"
#include "worker/device/compile_options.h"
#include "worker/ir/compare.h"
#include "worker/kernels/draw.h"
#include "worker/repro/program_files.h"
#include "worker/repro/spec_program_text.h"
#include "worker/runtime/launch_arguments.h"
#include "worker/runtime/leaves.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::repro {
namespace {

using codegen::GeneratedKernel;
using codegen::Parameter;
using device::DType;
using record::Cat;
using runtime::BoundKernel;
using runtime::Tensor;
using ProgramArgument = SpecProgramModel::Argument;

constexpr uint64_t kSeed = 1;           // of the drawn floats
constexpr int64_t kDrawnFloats = 251;   // a prime, so that rows do not repeat each other
constexpr size_t kMostEmbedded = 64;    // bytes; longer contents are in files of their own
constexpr char kOutputByte[] = "\xff";  // NaN in every float dtype

template <typename Number>
std::string BytesOfNumber(Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Makes the arguments of the program in the order of the code's parameters, and the files with their contents.
class ArgumentMaker {
 public:
  ArgumentMaker(const BoundKernel& kernel, const runtime::Leaves& leaves, const CallProgramOptions& options,
                ReproProgram* program)
      : ir_(kernel.ir()), leaves_(leaves), options_(options), program_(*program) {}

  ProgramArgument Make(const Parameter& parameter, bool has_coarse_dots) {
    const auto index = static_cast<size_t>(parameter.index);
    if (parameter.kind == Parameter::Kind::kTensor) return MakeTensor(index, has_coarse_dots);
    if (parameter.kind == Parameter::Kind::kScalar) return MakeScalar(index);
    const auto dimension = static_cast<size_t>(parameter.dimension);
    const Tensor& tensor = TensorAt(index);
    const bool is_size = parameter.kind == Parameter::Kind::kSize;
    return Number(Cat(ir_.tensors[index].name, is_size ? ".size" : ".stride", dimension), "i64",
                  BytesOfNumber(is_size ? tensor.sizes[dimension] : tensor.strides[dimension]));
  }

  // Returns a tensor of the call, or the layout of an output.
  const Tensor& TensorAt(size_t index) {
    if (index < leaves_.tensors.size()) return *leaves_.tensors[index];
    while (outputs_.size() + leaves_.tensors.size() <= index) {
      const ir::HostTensor& output = ir_.tensors[leaves_.tensors.size() + outputs_.size()];
      Tensor layout = {.dtype = output.dtype, .sizes = runtime::CallContract::ComputeSizes(output, leaves_)};
      layout.strides = runtime::DenseStrides(layout.sizes);
      outputs_.push_back(std::move(layout));
    }
    return outputs_[index - leaves_.tensors.size()];
  }

 private:
  static ProgramArgument Number(std::string name, std::string_view type, std::string bytes) {
    const size_t size = bytes.size();
    return {.name = std::move(name),
            .kind = "scalar",
            .type = std::string(type),
            .bytes = size,
            .embedded = std::move(bytes)};
  }

  ProgramArgument MakeScalar(size_t index) const {
    const runtime::Argument& number = *leaves_.scalars[index];
    const DType dtype = number.scalar_dtype();
    std::string bytes;
    if (dtype == DType::kF32) bytes = BytesOfNumber(static_cast<float>(number.number()));
    if (dtype == DType::kI32) bytes = BytesOfNumber(static_cast<int32_t>(number.number()));
    if (dtype == DType::kI64) bytes = BytesOfNumber(*number.As<int64_t>());
    return Number(ir_.scalars[index].name, ShortName(dtype), std::move(bytes));
  }

  ProgramArgument MakeTensor(size_t index, bool has_coarse_dots) {
    const Tensor& tensor = TensorAt(index);
    const bool is_written = codegen::IsStored(ir_, static_cast<int>(index));
    const bool is_coarse = has_coarse_dots && tensor.dtype == DType::kF32;
    const ir::Tolerance tolerance = ir::ToleranceFor(is_coarse ? DType::kF16 : tensor.dtype);
    ProgramArgument made = {.name = ir_.tensors[index].name,
                            .kind = is_written ? "written" : "read",
                            .type = std::string(ShortName(tensor.dtype)),
                            .bytes = static_cast<size_t>(tensor.span()) * SizeOf(tensor.dtype),
                            .absolute = tolerance.absolute,
                            .relative = tolerance.relative};
    const bool is_drawn = IsFloat(tensor.dtype) && !options_.with_values;
    if (index >= leaves_.tensors.size() || made.bytes == 0) {
      made.embedded = kOutputByte;
    } else if (is_drawn) {
      made.embedded = DrawnFloats(tensor.dtype);
    } else {
      SetValues(tensor, is_written, &made);
    }
    return made;
  }

  static std::string DrawnFloats(DType dtype) {
    Random random(kSeed);
    ir::HostArray array = ir::HostArray::Dense(dtype, {kDrawnFloats});
    array.data = kernels::Draw(dtype, {}, kDrawnFloats, random);
    return AsText(ir::ToBytes(array));
  }

  // Sets the values that the tensor has now.
  void SetValues(const Tensor& tensor, bool is_written, ProgramArgument* made) {
    const absl::StatusOr<std::vector<std::byte>> bytes = runtime::BytesOf(tensor);
    if (!bytes.ok()) {
      program_.notices.push_back(
          Cat("'", made->name, "' is 0 in the program, because it cannot be read: ", bytes.status().ToString()));
      made->embedded = std::string(1, '\0');
      return;
    }
    if (is_written) {
      program_.notices.push_back(Cat("the kernel writes '", made->name, "': its values are those after the call"));
    }
    if (bytes->size() <= kMostEmbedded) {
      made->embedded = AsText(*bytes);
      return;
    }
    const std::filesystem::path program(program_.path);
    made->file = Cat(program.stem().string(), ".", made->name, ".bin");
    program_.files.push_back({(program.parent_path() / made->file).string(), AsText(*bytes)});
  }

  const ir::DeviceIr& ir_;
  const runtime::Leaves& leaves_;
  const CallProgramOptions& options_;
  ReproProgram& program_;
  std::vector<Tensor> outputs_;
};

SpecProgramModel::Code MakeCode(const BoundKernel& kernel, const runtime::Leaves& leaves,
                                const GeneratedKernel& generated) {
  std::vector<ir::HostTensor> tensors = kernel.ir().tensors;
  runtime::SetSizes(leaves, &tensors);
  const device::DeviceProperties& device = kernel.device()->properties();
  return {.source = generated.source,
          .function = generated.function,
          .options = device.dialect == device::Dialect::kCuda ? device::CudaCompileOptions(device.architecture)
                                                              : std::vector<std::string>{device::kOpenClCompileOptions},
          .size = {.grid = {generated.GridSize(tensors), 1, 1},
                   .threads = {generated.threads, 1, 1},
                   .shared_bytes = static_cast<int64_t>(generated.shared_bytes)}};
}

std::vector<std::string> Comments(const BoundKernel& kernel, const codegen::Config& config,
                                  const runtime::Leaves& leaves, ArgumentMaker* arguments,
                                  const CallProgramOptions& options) {
  const ir::DeviceIr& ir = kernel.ir();
  std::vector<std::string> lines = {Cat("A call of the kernel ", kernel.name(), "."),
                                    Cat("reason: ", options.reason.empty() ? "not given" : options.reason),
                                    Cat("config: ", config.ToString()), Cat("specialization: ", kernel.key()),
                                    Cat("device: ", kernel.device()->properties().name)};
  for (size_t i = 0; i < ir.tensors.size(); ++i) {
    const Tensor& tensor = arguments->TensorAt(i);
    lines.push_back(Cat(i < leaves.tensors.size() ? "argument " : "output ", ir.tensors[i].name, ": ",
                        ShortName(tensor.dtype), " [", absl::StrJoin(tensor.sizes, ", "), "], strides [",
                        absl::StrJoin(tensor.strides, ", "), "]"));
  }
  for (size_t i = 0; i < leaves.scalars.size(); ++i) {
    const runtime::Argument& number = *leaves.scalars[i];
    const int64_t* integer = number.As<int64_t>();
    lines.push_back(Cat("argument ", ir.scalars[i].name, ": ",
                        integer != nullptr ? Cat(*integer) : Cat(number.number()), " (", number.TypeName(), ")"));
  }
  const std::string& source = kernel.definition().source;
  if (source.empty()) return lines;
  lines.emplace_back("");
  lines.emplace_back("The definition of the kernel:");
  for (const absl::string_view line : absl::StrSplit(record::AbslView(source), '\n')) lines.push_back(Cat("  ", line));
  return lines;
}

std::string FileStem(const BoundKernel& kernel, const codegen::Config& config) {
  return Cat(kernel.name(), "_", record::FormatConfigId(config.id()));
}

}  // namespace

absl::StatusOr<ReproProgram> MakeCallProgram(const BoundKernel& kernel, const codegen::Config& config,
                                             absl::Span<const runtime::Argument> arguments,
                                             const CallProgramOptions& options) {
  ASSIGN_OR_RETURN(const codegen::Config complete, kernel.config_space().Normalize(config));
  ASSIGN_OR_RETURN(const GeneratedKernel generated, kernel.Generate(complete));
  ASSIGN_OR_RETURN(const GeneratedKernel plain, kernel.GeneratePlain(kernel.config_space().Default()));
  const runtime::Leaves leaves = runtime::CollectLeaves(kernel.definition().signature, arguments);
  const bool is_cpp = options.language == ProgramLanguage::kCpp;
  const device::DeviceProperties& device = kernel.device()->properties();
  const bool is_cuda = device.dialect == device::Dialect::kCuda;
  const std::string path = options.path.empty() ? FileStem(kernel, complete) + (is_cpp ? ".cpp" : ".py") : options.path;
  const std::string libraries = is_cuda ? Cat(wrapper::program::kCudaFolders, " ", wrapper::program::kCudaLibraries)
                                        : wrapper::program::kOpenClLibraries;
  ReproProgram program = {.path = path,
                          .command = is_cpp ? CppCommandOf(path, libraries) : Cat("python3 ", ForShell(path))};

  SpecProgramModel model = {.dialect = device.dialect,
                            .kernel = MakeCode(kernel, leaves, generated),
                            .reference = MakeCode(kernel, leaves, plain),
                            .device = device.name,
                            .measured_ms = options.measured_ms};
  if (is_cuda) model.cuda_options = device::CudaCompileOptions(device.architecture);
  ArgumentMaker maker(kernel, leaves, options, &program);
  for (const Parameter& parameter : generated.parameters) {
    model.arguments.push_back(maker.Make(parameter, generated.tensor_core_dots > 0));
  }
  model.comments = Comments(kernel, complete, leaves, &maker, options);
  for (const std::string& notice : program.notices) model.comments.push_back(Cat("note: ", notice));
  model.comments.emplace_back();
  model.comments.push_back(Cat(is_cpp ? "Compile and run: " : "Run: ", program.command));
  model.comments.emplace_back(
      "[--no-time] [--device N]    exits with 0: equal to the default config, 1: different, 2: could not run");
  program.text = is_cpp ? CppSpecProgram(model) : PythonSpecProgram(model);
  return program;
}

}  // namespace telemetry::worker::repro
