#include "worker/repro/spec_program.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "worker/device/compile_options.h"
#include "worker/repro/program_files.h"
#include "worker/spec/argument_data.h"
#include "worker/spec/config_source.h"
#include "worker/tune/spec_kernel.h"
#include "worker/tune/spec_subject.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::repro {
namespace {

using record::Cat;
using spec::Argument;
using spec::Specification;
using spec::Verification;
using wrapper::program::RuntimeText;

// A kernel's source with its function and launch.
struct Code {
  std::string source;
  std::string function;
  spec::LaunchSize size;
};

absl::Status CheckRun(const tune::SpecKernel& kernel, const v1::Run& run) {
  device::DeviceProperties properties;
  properties.name = run.hardware();
  const v1::Run expected = tune::MakeSpecRun(kernel, properties);
  if (expected.run_id() == run.run_id()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("run ", run.run_id(), " was not measured with ", kernel.specification().path,
                                        ", which has the run_id ", expected.run_id(),
                                        " on that device: pass the specification and the source of that time"));
}

absl::StatusOr<Code> ReferenceCode(const Specification& spec) {
  const Verification& verification = spec.verification;
  const bool is_kernel = verification.kind == Verification::Kind::kReferenceKernel;
  ASSIGN_OR_RETURN(const spec::ConfigSource source,
                   spec::ConfigSource::Create(spec, is_kernel ? verification.kernel_file : spec.kernel_file,
                                              is_kernel ? verification.kernel_name : spec.kernel_name));
  Code code = {.function = source.function()};
  ASSIGN_OR_RETURN(code.source, source.For(spec, verification.config));
  ASSIGN_OR_RETURN(
      code.size, spec::LaunchSizeOf(is_kernel ? verification.launch : spec.launch, spec.ValuesAt(verification.config)));
  return code;
}

// Returns a literal of C++ with these bytes.
std::string Literal(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n\"\n    \"";
    } else if (c == '"' || c == '\\' || c == '?') {
      text += Cat("\\", std::string(1, c));
    } else if (byte < 0x20 || byte >= 0x7f) {
      text += absl::StrFormat("\\%03o", byte);
    } else {
      text += c;
    }
  }
  return text + "\"";
}

std::string_view BytesView(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Options(const std::string& source) {
  std::string options;
  bool has_version = false;
  for (const std::string& option : device::ReadSourceOptions(source).options) {
    has_version = has_version || option.starts_with("-cl-std=");
    options += Cat(options.empty() ? "" : " ", option);
  }
  return has_version ? options : Cat(device::kOpenClCompileOptions, options.empty() ? "" : " ", options);
}

std::string CodeText(std::string_view name, const Code& code) {
  const spec::LaunchSize& size = code.size;
  std::string text = Cat("const Code ", name, " = {\n    ", Literal(code.function), ",\n    ",
                         Literal(Options(code.source)), ",\n    {");
  for (size_t axis = 0; axis < 3; ++axis) text += Cat(axis == 0 ? "" : ", ", size.grid[axis] * size.threads[axis]);
  text += "},\n    {";
  for (size_t axis = 0; axis < 3; ++axis) text += Cat(axis == 0 ? "" : ", ", size.threads[axis]);
  return text + Cat("},\n    ", Literal(code.source), "};\n");
}

// Returns the value that fills the argument, or the whole contents.
std::string_view SmallContents(const Argument& argument, const std::vector<std::byte>& bytes) {
  const size_t element = spec::SizeOf(argument.type.element);
  const bool is_constant = argument.fill.kind == spec::Fill::Kind::kConstant && bytes.size() > element;
  return BytesView(bytes).substr(0, is_constant ? element : bytes.size());
}

// The tables of the program's arguments.
class Arguments {
 public:
  Arguments(const Specification& spec, std::string path, ReproProgram* program)
      : spec_(spec), path_(std::move(path)), program_(*program) {}

  absl::StatusOr<std::string> Text() {
    std::string text = "const std::vector<Argument> kArguments = {\n";
    for (size_t i = 0; i < spec_.arguments.size(); ++i) {
      ASSIGN_OR_RETURN(const std::string line, Line(i));
      text += line;
    }
    return text + "};\n";
  }

 private:
  // Contents of more bytes are in files of their own.
  static constexpr size_t kMostEmbedded = 64;

  absl::StatusOr<std::string> Line(size_t index) {
    const Argument& argument = spec_.arguments[index];
    const size_t size = static_cast<size_t>(argument.values()) * spec::SizeOf(argument.type.element);
    std::string kind = "kScalar";
    if (argument.memory == Argument::Memory::kVector) kind = argument.is_written ? "kWritten" : "kRead";
    if (argument.memory == Argument::Memory::kLocal) kind = "kLocal";
    std::string contents = "\"\"";
    std::string embedded = "0";
    if (argument.memory != Argument::Memory::kLocal) {
      ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, spec::InitialBytes(argument, spec_.folder));
      const std::string_view small = SmallContents(argument, bytes);
      if (small.size() <= kMostEmbedded) {
        contents = Literal(small);
        embedded = std::to_string(small.size());
      } else {
        contents = Literal(Add(Cat(".", index, ".bin"), bytes));
      }
    }
    ASSIGN_OR_RETURN(const std::string expected, Expected(index));
    return Cat("    {", Literal(argument.name), ", ", kind, ", ", Literal(spec::ShortName(argument.type.element)), ", ",
               size, ", ", contents, ", ", embedded, ", ", expected, "},\n");
  }

  // Returns the file with the expected contents, and the tolerances.
  absl::StatusOr<std::string> Expected(size_t index) {
    const Verification& verification = spec_.verification;
    spec::Tolerances tolerances = verification.tolerances;
    std::string file;
    for (const Verification::Expected& expected : verification.expected) {
      if (verification.kind != Verification::Kind::kFiles || expected.argument != index) continue;
      ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                       spec::BytesOf(spec_.arguments[index], expected.fill, spec_.folder));
      file = Add(Cat(".", index, ".expected.bin"), bytes);
      tolerances = expected.tolerances.value_or(tolerances);
    }
    return Cat(Literal(file), ", ", record::FloatRepr(tolerances.absolute), ", ",
               record::FloatRepr(tolerances.relative));
  }

  // Adds a file next to the program; returns its name.
  std::string Add(const std::string& suffix, const std::vector<std::byte>& bytes) {
    const std::filesystem::path program(path_);
    std::string name = program.stem().string() + suffix;
    program_.files.push_back({(program.parent_path() / name).string(), std::string(BytesView(bytes))});
    return name;
  }

  const Specification& spec_;
  const std::string path_;
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
  if (spec->dialect != device::Dialect::kOpenCl || language != ProgramLanguage::kCpp) {
    return absl::UnimplementedError(
        "programs of specifications exist only for OpenCL kernels and in C++ yet; telemetry-worker show-code --spec "
        "prints the source of a config");
  }
  ASSIGN_OR_RETURN(const codegen::GeneratedKernel generated, kernel->Generate(measured.config));
  ASSIGN_OR_RETURN(const spec::LaunchSize size, kernel->LaunchOf(measured.config));

  ReproProgram program = {.path = path.empty() ? FileStem(measured) + ".cpp" : path};
  Arguments arguments(*spec, program.path, &program);
  ASSIGN_OR_RETURN(const std::string table, arguments.Text());
  const Verification::Kind verification = spec->verification.kind;
  const bool has_reference =
      verification == Verification::Kind::kReferenceConfig || verification == Verification::Kind::kReferenceKernel;
  Code reference;
  if (has_reference) {
    ASSIGN_OR_RETURN(reference, ReferenceCode(*spec));
  }
  program.command = CppCommandOf(program.path, "-l:libOpenCL.so.1");
  for (const std::string& line : Provenance(measured)) program.text += CommentLine(line);
  program.text += Cat(
      "//\n", CommentLine(Cat("Compile and run: ", program.command)),
      "// [--no-time] [--device N]    exits with 0: right, 1: wrong, 2: could not run\n\n",
      RuntimeText("spec_types.cpp"), "\n", CodeText("kKernel", {generated.source, generated.function, size}), "\n",
      CodeText("kReference", reference), Cat("const bool kHasReference = ", has_reference ? "true" : "false", ";\n"),
      Cat("const bool kIsChecked = ", verification == Verification::Kind::kNone ? "false" : "true", ";\n"),
      Cat("const char kDevice[] = ", Literal(measured.run.hardware()), ";\n"),
      Cat("const double kMeasuredMs = ", record::FloatRepr(measured.row.perf_ms()), ";\n"), table, "\n",
      RuntimeText("spec_opencl.cpp"));
  return program;
}

}  // namespace telemetry::worker::repro
