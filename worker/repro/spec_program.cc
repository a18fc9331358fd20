#include "worker/repro/spec_program.h"

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"
#include "worker/repro/program_files.h"
#include "worker/repro/spec_program_text.h"
#include "worker/spec/argument_data.h"
#include "worker/spec/config_source.h"
#include "worker/tune/spec_kernel.h"
#include "worker/tune/spec_subject.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::repro {
namespace {

using record::Cat;
using spec::Argument;
using spec::Specification;
using spec::Verification;

absl::Status CheckRun(const tune::SpecKernel& kernel, const v1::Run& run) {
  device::DeviceProperties properties;
  properties.name = run.hardware();
  const v1::Run expected = tune::MakeSpecRun(kernel, properties);
  if (expected.run_id() == run.run_id()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("run ", run.run_id(), " was not measured with ", kernel.specification().path,
                                        ", which has the run_id ", expected.run_id(),
                                        " on that device: pass the specification and the source of that time"));
}

bool HasReference(const Verification& verification) {
  return verification.kind == Verification::Kind::kReferenceConfig ||
         verification.kind == Verification::Kind::kReferenceKernel;
}

// Returns the options with which the tuner compiled a source. `architecture` is empty for OpenCL.
std::vector<std::string> OptionsOf(const std::string& source, const std::string& architecture) {
  const device::SourceOptions options = device::ReadSourceOptions(source);
  return architecture.empty() ? device::OpenClCompileOptions(options)
                              : device::CudaCompileOptions(architecture, options);
}

absl::StatusOr<SpecProgramModel::Code> ReferenceCode(const Specification& spec, const std::string& architecture) {
  const Verification& verification = spec.verification;
  const bool is_kernel = verification.kind == Verification::Kind::kReferenceKernel;
  ASSIGN_OR_RETURN(const spec::ConfigSource source,
                   spec::ConfigSource::Create(spec, is_kernel ? verification.kernel_file : spec.kernel_file,
                                              is_kernel ? verification.kernel_name : spec.kernel_name));
  SpecProgramModel::Code code = {.function = source.function()};
  ASSIGN_OR_RETURN(code.source, source.For(spec, verification.config));
  code.options = OptionsOf(code.source, architecture);
  ASSIGN_OR_RETURN(
      code.size, spec::LaunchSizeOf(is_kernel ? verification.launch : spec.launch, spec.ValuesAt(verification.config)));
  return code;
}

std::string_view BytesView(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string KindOf(const Argument& argument) {
  switch (argument.memory) {
    case Argument::Memory::kScalar:
      return "scalar";
    case Argument::Memory::kVector:
      return argument.is_written ? "written" : "read";
    case Argument::Memory::kLocal:
      return "local";
    case Argument::Memory::kSymbol:
      break;
  }
  return "variable";
}

// Returns the value that fills the argument, or the whole contents.
std::string_view SmallContents(const Argument& argument, const std::vector<std::byte>& bytes) {
  const size_t element = spec::SizeOf(argument.type.element);
  const bool is_constant = argument.fill.kind == spec::Fill::Kind::kConstant && bytes.size() > element;
  return BytesView(bytes).substr(0, is_constant ? element : bytes.size());
}

// Describes the arguments of a program, and adds the files with their contents.
class ArgumentWriter {
 public:
  ArgumentWriter(const Specification& spec, ReproProgram* program) : spec_(spec), program_(*program) {}

  absl::StatusOr<SpecProgramModel::Argument> Describe(size_t index) {
    const Argument& argument = spec_.arguments[index];
    SpecProgramModel::Argument described = {
        .name = argument.name,
        .kind = KindOf(argument),
        .is_variable_too = argument.is_symbol_too,
        .type = std::string(spec::ShortName(argument.type.element)),
        .bytes = static_cast<size_t>(argument.values()) * spec::SizeOf(argument.type.element)};
    if (argument.memory != Argument::Memory::kLocal) {
      ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, spec::InitialBytes(argument, spec_.folder));
      const std::string_view small = SmallContents(argument, bytes);
      if (small.size() <= kMostEmbedded) {
        described.embedded = std::string(small);
      } else {
        described.file = Add(Cat(".", index, ".bin"), bytes);
      }
    }
    RETURN_IF_ERROR(SetExpected(index, &described));
    return described;
  }

 private:
  // Contents of more bytes are in files of their own.
  static constexpr size_t kMostEmbedded = 64;

  absl::Status SetExpected(size_t index, SpecProgramModel::Argument* described) {
    const Verification& verification = spec_.verification;
    spec::Tolerances tolerances = verification.tolerances;
    for (const Verification::Expected& expected : verification.expected) {
      if (verification.kind != Verification::Kind::kFiles || expected.argument != index) continue;
      ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                       spec::BytesOf(spec_.arguments[index], expected.fill, spec_.folder));
      described->expected = Add(Cat(".", index, ".expected.bin"), bytes);
      tolerances = expected.tolerances.value_or(tolerances);
    }
    described->absolute = tolerances.absolute;
    described->relative = tolerances.relative;
    return absl::OkStatus();
  }

  // Adds a file next to the program; returns its name.
  std::string Add(const std::string& suffix, const std::vector<std::byte>& bytes) {
    const std::filesystem::path program(program_.path);
    std::string name = program.stem().string() + suffix;
    program_.files.push_back({(program.parent_path() / name).string(), std::string(BytesView(bytes))});
    return name;
  }

  const Specification& spec_;
  ReproProgram& program_;
};

std::string FileStem(const RecordedMeasurement& measured) {
  std::string name = Cat(measured.run.kernel_name(), "_", record::FormatConfigId(measured.config_id));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace

absl::StatusOr<ReproProgram> MakeSpecProgram(const RecordedMeasurement& measured, const std::string& spec_path,
                                             ProgramLanguage language, const std::string& path) {
  ASSIGN_OR_RETURN(Specification read, spec::ReadSpecification(spec_path));
  const auto spec = std::make_shared<const Specification>(std::move(read));
  ASSIGN_OR_RETURN(const std::shared_ptr<const tune::SpecKernel> kernel, tune::SpecKernel::Create(spec, nullptr));
  RETURN_IF_ERROR(CheckRun(*kernel, measured.run));
  const bool is_cpp = language == ProgramLanguage::kCpp;
  const bool is_cuda = spec->dialect == device::Dialect::kCuda;
  ReproProgram program = {.path = path.empty() ? Cat(FileStem(measured), is_cpp ? ".cpp" : ".py") : path};
  const std::string libraries = is_cuda ? Cat(wrapper::program::kCudaFolders, " ", wrapper::program::kCudaLibraries)
                                        : wrapper::program::kOpenClLibraries;
  program.command = is_cpp ? CppCommandOf(program.path, libraries) : Cat("python3 ", ForShell(program.path));

  SpecProgramModel model = {.dialect = spec->dialect,
                            .comments = Provenance(measured),
                            .is_checked = spec->verification.kind != Verification::Kind::kNone,
                            .device = measured.run.hardware(),
                            .measured_ms = measured.row.has_perf_ms() ? measured.row.perf_ms() : 0};
  const std::string architecture = is_cuda ? ArchitectureOf(measured.attempt, &program.notices) : "";
  if (is_cuda) model.cuda_options = device::CudaCompileOptions(architecture);
  for (const std::string& notice : program.notices) model.comments.push_back(Cat("note: ", notice));
  model.comments.emplace_back();
  model.comments.push_back(Cat(is_cpp ? "Compile and run: " : "Run: ", program.command));
  model.comments.emplace_back("[--no-time] [--device N]    exits with 0: right, 1: wrong, 2: could not run");

  ASSIGN_OR_RETURN(const codegen::GeneratedKernel generated, kernel->Generate(measured.config));
  model.kernel = {.source = generated.source, .function = generated.function};
  ASSIGN_OR_RETURN(model.kernel.size, kernel->LaunchOf(measured.config));
  model.kernel.options = OptionsOf(generated.source, architecture);
  if (HasReference(spec->verification)) {
    ASSIGN_OR_RETURN(model.reference, ReferenceCode(*spec, architecture));
  }
  ArgumentWriter arguments(*spec, &program);
  for (size_t i = 0; i < spec->arguments.size(); ++i) {
    ASSIGN_OR_RETURN(SpecProgramModel::Argument argument, arguments.Describe(i));
    model.arguments.push_back(std::move(argument));
  }
  program.text = is_cpp ? CppSpecProgram(model) : PythonSpecProgram(model);
  return program;
}

}  // namespace telemetry::worker::repro
