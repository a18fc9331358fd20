#include <algorithm>

#include "absl/strings/str_join.h"
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

std::string Head(const ProgramModel& model) {
  const Plan& plan = *model.plan;
  std::string text;
  for (const std::string& line : HeadLines(model, "it checks its results and times its launches"))
    text += Cat("// ", line, "\n");
  return Cat(text, "//\n// Compile:  ", CompileCommand(plan, model.options), "\n// Run:      ./",
             FileName(plan, model.options),
             " [--no-time] [--device N]    exits with 0: right, 1: wrong, 2: could not run\n");
}

std::string Includes(const ProgramModel& model) {
  std::string text;
  if (model.options.target.dialect == Dialect::kOpenCl) {
    text = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n";
  } else {
    text = UsesCublas(*model.plan, Dialect::kCuda) ? "#include <cublas_v2.h>\n" : "";
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
  text += "#include <random>\n";
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

absl::StatusOr<std::string> CppProgram(const Plan& plan, const ProgramOptions& options) {
  ASSIGN_OR_RETURN(const ProgramModel model, MakeProgramModel(plan, options));
  const bool is_cuda = options.target.dialect == Dialect::kCuda;
  const ProgramNames names = CppNames(model);
  const WrittenLines lines = WriteCppLines(model, names);

  std::string text = Cat(Head(model), "\n", Includes(model), "\n", Constants(model));
  std::vector<std::string_view> files = {"values.cpp", is_cuda ? "cuda.cpp" : "opencl.cpp", "check.cpp", "time.cpp"};
  files.insert(files.end(), lines.runtime.begin(), lines.runtime.end());
  for (const std::string_view file : files) text += Cat("\n", RuntimeText(file));
  text += DebugPart(model);
  text += "\n// ---- The kernels.\n";
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    text +=
        Cat("\nconst char ", names.sources[i], "[] = R\"KERNEL(", model.kernels[i].generated.source, ")KERNEL\";\n");
  }
  text += "\n// ---- The plan. The expected outputs are at the end.\n\n";
  for (size_t i = 0; i < plan.outputs.size(); ++i) text += Cat("extern const Expected ", names.expected[i], ";\n");
  text += Cat("\n", lines.text, "\n", RuntimeText("main.cpp"), "\n");
  for (size_t i = 0; i < plan.outputs.size(); ++i) text += ExpectedText(model, i, names.expected[i]);
  return text;
}

}  // namespace telemetry::worker::wrapper::program
