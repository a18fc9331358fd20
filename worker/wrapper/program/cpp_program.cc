#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/debug/statistics_code.h"
#include "worker/device/compile_options.h"
#include "worker/wrapper/program/cpp_lines.h"
#include "worker/wrapper/program/program.h"

namespace telemetry::worker::wrapper::program {

using device::Dialect;
using record::Cat;

namespace {

bool UsesCublas(const Plan& plan, Dialect dialect) {
  return dialect == Dialect::kCuda && std::any_of(plan.lines.begin(), plan.lines.end(), [&](const Line& line) {
           const KernelCall* call = AsKernelCall(line);
           return call != nullptr && !std::holds_alternative<CallKernel>(line) && IsForCublas(plan, *call);
         });
}

std::string Head(const ProgramModel& model, const std::string& command, std::string_view flags) {
  const Plan& plan = *model.plan;
  std::string text;
  for (const std::string& line : HeadLines(model, "it checks its results and times its launches"))
    text += Cat("// ", line, "\n");
  return Cat(text, "//\n// Compile:  ", command, "\n// Run:      ./", FileName(plan, model.options), flags,
             " [--no-time] [--device N]    exits with 0: right, 1: wrong, 2: could not run\n");
}

std::string Includes(const ProgramModel& model, bool uses_cublas) {
  std::string text;
  if (model.options.target.dialect == Dialect::kOpenCl) {
    text = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n";
  } else {
    text = uses_cublas ? "#include <cublas_v2.h>\n" : "";
    text += "#include <cuda.h>\n#include <nvrtc.h>\n";
  }
  const bool shows_values = DebugRuntime(model) == "debug_values";
  text += "\n#include <algorithm>\n";
  if (shows_values) text += "#include <cctype>\n#include <cerrno>\n";
  for (const char* header : {"chrono", "cmath", "cstdint", "cstdio", "cstdlib", "cstring"}) {
    text += Cat("#include <", header, ">\n");
  }
  if (shows_values) text += "#include <filesystem>\n";
  text += "#include <iterator>\n";
  if (shows_values) text += "#include <map>\n";
  if (shows_values) text += "#include <set>\n";
  text += "#include <string>\n";
  if (shows_values) text += "#include <system_error>\n";
  return text + "#include <utility>\n#include <vector>\n";
}

std::string Constants(const ProgramModel& model) {
  const codegen::Target& target = model.options.target;
  std::string options = Cat("const char kCompileOptions[] = ", Quoted(device::kOpenClCompileOptions), ";\n");
  if (target.dialect == Dialect::kCuda) {
    std::vector<std::string> quoted;
    for (const std::string& option : device::CudaCompileOptions(Cat("sm_", target.sm)))
      quoted.push_back(Quoted(option));
    options = Cat("const char* const kCompileOptions[] = {", absl::StrJoin(quoted, ", "), "};\n");
  }
  const double measured_ms = model.options.measured_ms.value_or(0);
  return Cat(options, "const uint64_t kSeed = ", model.options.seed, ";  // of the inputs\n",

             "const double kMeasuredMs = ", CppNumber(measured_ms), ";  // of its launches",
             measured_ms > 0 ? "" : "; 0: not known", "\n");
}

// Returns the part of the program that the debug calls need.
std::string DebugPart(const ProgramModel& model) {
  const std::string_view runtime = DebugRuntime(model);
  if (runtime.empty()) return "";
  std::string fixed = Cat("\n", RuntimeText(Cat(runtime, ".cpp")));
  if (runtime == "debug_names") return fixed;
  const device::Dialect dialect = model.options.target.dialect;
  const std::string source = debug::StatisticsSource(dialect, debug::StatisticsSums::kDouble);
  return Cat("\nconst int kDebugLevel = ", static_cast<int>(model.options.debug.level), ";\n",
             "const char kDebugFolder[] = ", Quoted(model.options.debug.folder), ";\n",
             "const int kStatisticsThreads = ", debug::StatisticsThreads(dialect), ";\n",
             "const char kStatisticsSource[] = R\"KERNEL(", source, ")KERNEL\";\n", fixed);
}

std::string ExpectedText(const ProgramModel& model, size_t output, const std::string& name) {
  const PlanBuffer& buffer = model.plan->buffer(model.plan->outputs[output]);
  const Expectation& expected = model.expected[output];
  std::vector<std::string> samples;
  for (const double sample : expected.samples) samples.push_back(CppNumber(sample, ValueDigits(buffer.dtype)));
  std::vector<std::string> stripes;
  for (const Stripe& stripe : expected.stripes) {
    stripes.push_back(
        Cat("{", CppNumber(stripe.sum, SumDigits(buffer.dtype)), ", ", CppNumber(stripe.tolerance, 4), "}"));
  }
  return Cat("const Expected ", name, " = {\n    ", Quoted(buffer.name), ", ", CppLayout(buffer), ", ",
             CppNumber(expected.tolerance.absolute, 9), ", ", CppNumber(expected.tolerance.relative, 9), ", ",
             expected.not_finite, ",\n    {", WrappedList(samples, 8), "},\n    ", expected.stripe_length, ", {",
             WrappedList(stripes, 4), "}};\n");
}

}  // namespace

std::string CompileCommand(const Plan& plan, const ProgramOptions& options) {
  const std::string name = FileName(plan, options);
  return CompileCommand(plan, options, name + ".cpp", name);
}

std::string CompileCommand(const Plan& plan, const ProgramOptions& options, std::string_view source,
                           std::string_view program) {
  const std::string command = Cat("g++ -std=c++17 -O2 ", source, " -o ", program);
  if (options.target.dialect == Dialect::kOpenCl) return Cat(command, " ", kOpenClLibraries);
  return Cat(command, " ", kCudaFolders, UsesCublas(plan, options.target.dialect) ? " -lcublas " : " ", kCudaLibraries);
}

namespace {

// The code of a plan at one shape.
struct CppPart {
  ProgramModel model;
  ProgramNames names;
  WrittenLines lines;
};

CppPart MakePart(ProgramModel model, size_t shape, const std::vector<ProgramNames>& before) {
  ProgramNames names = CppNames(model, shape, before);
  WrittenLines lines = WriteCppLines(model, names);
  return {.model = std::move(model), .names = std::move(names), .lines = std::move(lines)};
}

std::string ProgramOf(const std::vector<CppPart>& parts, std::string_view main, std::string_view flags = "") {
  const ProgramModel& first = parts[0].model;
  const bool is_cuda = first.options.target.dialect == Dialect::kCuda;
  std::set<std::string_view> runtime;
  const Plan* to_compile = first.plan;
  for (const CppPart& part : parts) {
    runtime.insert(part.lines.runtime.begin(), part.lines.runtime.end());
    if (UsesCublas(*part.model.plan, first.options.target.dialect)) to_compile = part.model.plan;
  }
  const bool uses_cublas = UsesCublas(*to_compile, first.options.target.dialect);
  std::string text = Cat(Head(first, CompileCommand(*to_compile, first.options), flags), "\n",
                         Includes(first, uses_cublas), "\n", Constants(first));
  std::vector<std::string_view> files = {"values.cpp", is_cuda ? "cuda.cpp" : "opencl.cpp", "check.cpp", "time.cpp"};
  files.insert(files.end(), runtime.begin(), runtime.end());
  for (const std::string_view file : files) text += Cat("\n", RuntimeText(file));
  text += DebugPart(first);
  text += "\n// ---- The kernels.\n";
  for (const auto& [model, names, lines] : parts) {
    for (size_t i = 0; i < model.kernels.size(); ++i) {
      text +=
          Cat("\nconst char ", names.sources[i], "[] = R\"KERNEL(", model.kernels[i].generated.source, ")KERNEL\";\n");
    }
  }
  text += "\n// ---- The plan. The expected outputs are at the end.\n\n";
  for (const CppPart& part : parts) {
    for (const std::string& name : part.names.expected) text += Cat("extern const Expected ", name, ";\n");
  }
  for (const CppPart& part : parts) text += Cat("\n", part.lines.text);
  text += Cat("\n", main, "\n");
  for (const auto& [model, names, lines] : parts) {
    for (size_t i = 0; i < names.expected.size(); ++i) text += ExpectedText(model, i, names.expected[i]);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> CppProgram(const Plan& plan, const ProgramOptions& options) {
  ASSIGN_OR_RETURN(ProgramModel model, MakeProgramModel(plan, options));
  return ProgramOf({MakePart(std::move(model), 0, {})}, RuntimeText("main.cpp"));
}

absl::StatusOr<std::string> CppProgram(absl::Span<const PlanShape> shapes, const ProgramOptions& options) {
  ASSIGN_OR_RETURN(std::vector<ProgramModel> models, MakeShapeModels(shapes, options, CheckExternKind));
  std::vector<CppPart> parts;
  std::vector<ProgramNames> names;
  std::string rows;
  for (size_t i = 0; i < shapes.size(); ++i) {
    parts.push_back(MakePart(std::move(models[i]), i + 1, names));
    names.push_back(parts.back().names);
    std::vector<std::string> sizes;
    for (const auto& [symbol, size] : shapes[i].sizes) sizes.push_back(Quoted(Cat(symbol, "=", size)));
    rows += Cat("    {{", absl::StrJoin(sizes, ", "), "}, ", names.back().run, "},\n");
  }
  return ProgramOf(parts,
                   Cat(RuntimeText("shapes.cpp"), "\nconst std::vector<Shape> kShapes = {\n", rows, "};\n\n",
                       RuntimeText("main_shapes.cpp")),
                   " [--size SYMBOL=N]");
}

const Plan& PlanToCompile(absl::Span<const PlanShape> shapes, const ProgramOptions& options) {
  for (const PlanShape& shape : shapes) {
    if (UsesCublas(shape.plan, options.target.dialect)) return shape.plan;
  }
  return shapes[0].plan;
}

}  // namespace telemetry::worker::wrapper::program
