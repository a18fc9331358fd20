#include <set>
#include <vector>

#include "absl/types/span.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/debug/statistics_code.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/python_lines.h"
#include "worker/wrapper/program/python_text.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

namespace {

std::string PythonHead(const ProgramModel& model, std::string_view flags) {
  std::string text = "#!/usr/bin/env python3\n";
  for (const std::string& line : HeadLines(model, "it checks its results and times its launches"))
    text += Cat("# ", line, "\n");
  return Cat(text, "#\n# Run:  python3 ", FileName(*model.plan, model.options), ".py", flags,
             " [--no-time]    with CuPy and NumPy; exits with 0: right, 1: wrong, 2: could not run\n\n",
             RuntimeText("head.py"), "\n");
}

std::string PythonConstants(const ProgramModel& model) {
  const std::string measured_ms =
      model.options.measured_ms.has_value() ? PythonNumber(*model.options.measured_ms) : "None";
  return Cat(PythonOptions(model), "MEASURED_MS = ", measured_ms, "  # of its launches\n");
}

// Returns the part of the program that the debug calls need.
std::string PythonDebugPart(const ProgramModel& model) {
  const std::string_view runtime = DebugRuntime(model);
  if (runtime.empty()) return "";
  std::string fixed = Cat("\n\n", RuntimeText(Cat(runtime, ".py")));
  if (runtime == "debug_names") return fixed;
  const device::Dialect dialect = model.options.target.dialect;
  return Cat(fixed, "\n\nDEBUG_LEVEL = ", static_cast<int>(model.options.debug.level),
             "\nDEBUG_FOLDER = ", Quoted(model.options.debug.folder),
             "\nSTATISTICS_THREADS = ", debug::StatisticsThreads(dialect), "\nSTATISTICS_SOURCE = r'''",
             debug::StatisticsSource(dialect, debug::StatisticsSums::kDouble), "'''\n");
}

// Writes the program of the models, with the names of each. `main` is its end.
std::string ProgramOf(absl::Span<const ProgramModel> models, absl::Span<const ProgramNames> names,
                      std::string_view main, std::string_view flags = "") {
  std::vector<WrittenLines> lines;
  std::set<std::string_view> runtime;
  for (size_t i = 0; i < models.size(); ++i) {
    lines.push_back(WritePythonLines(models[i], names[i]));
    runtime.insert(lines.back().runtime.begin(), lines.back().runtime.end());
  }
  std::string text = Cat(PythonHead(models[0], flags), PythonConstants(models[0]));
  std::vector<std::string_view> files = {"values.py", "check.py", "compile_cuda.py", "cuda.py"};
  files.insert(files.end(), runtime.begin(), runtime.end());
  for (const std::string_view file : files) text += Cat("\n\n", RuntimeText(file));
  text += Cat(PythonDebugPart(models[0]), "\n\n# ---- The kernels.\n");
  for (size_t i = 0; i < models.size(); ++i) text += PythonKernels(models[i], names[i]);
  text += "\n\n# ---- The plan. The expected outputs are at the end.\n";
  for (size_t i = 0; i < models.size(); ++i) {
    text += Cat("\n\n", PythonInputs(models[i], names[i]), "\n\n", lines[i].text);
  }
  text += Cat("\n\n", main, "\n\n");
  for (size_t i = 0; i < models.size(); ++i) text += PythonExpected(models[i], names[i]);
  return text + "\nif __name__ == \"__main__\":\n    sys.exit(main())\n";
}

}  // namespace

std::string WritePythonProgram(const ProgramModel& model) {
  return ProgramOf({model}, {PythonNames(model)}, RuntimeText("main.py"));
}

std::string WritePythonProgram(absl::Span<const PlanShape> shapes, absl::Span<const ProgramModel> models) {
  std::vector<ProgramNames> names;
  std::string rows;
  for (size_t i = 0; i < models.size(); ++i) {
    names.push_back(PythonNames(models[i], i + 1, names));
    rows += Cat("    (", ShapeTuple(shapes[i]), ", ", names.back().inputs, ", ", names.back().run, "),\n");
  }
  const std::string main = Cat("# The sizes of each shape, and its functions.\nSHAPES = [\n", rows, "]\n\n\n",
                               RuntimeText("shapes.py"), "\n\n", RuntimeText("main_shapes.py"));
  return ProgramOf(models, names, main, " [--size SYMBOL=N]");
}

namespace {

absl::Status CheckCuda(const Plan& plan, const ProgramOptions& options) {
  if (options.target.dialect == device::Dialect::kCuda) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("plan '", plan.name, "': Python programs need CUDA, because they use CuPy; write a C++ program for OpenCL"));
}

}  // namespace

absl::StatusOr<std::string> PythonProgram(const Plan& plan, const ProgramOptions& options) {
  RETURN_IF_ERROR(CheckCuda(plan, options));
  ASSIGN_OR_RETURN(const ProgramModel model, MakeProgramModel(plan, options));
  return WritePythonProgram(model);
}

absl::StatusOr<std::string> PythonProgram(absl::Span<const PlanShape> shapes, const ProgramOptions& options) {
  if (!shapes.empty()) RETURN_IF_ERROR(CheckCuda(shapes[0].plan, options));
  ASSIGN_OR_RETURN(const std::vector<ProgramModel> models, MakeShapeModels(shapes, options, CheckExternKind));
  return WritePythonProgram(shapes, models);
}

}  // namespace telemetry::worker::wrapper::program
