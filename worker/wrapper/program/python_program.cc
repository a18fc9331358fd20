#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/debug/statistics_code.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/python_lines.h"
#include "worker/wrapper/program/python_text.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

namespace {

std::string PythonHead(const ProgramModel& model) {
  std::string text = "#!/usr/bin/env python3\n";
  for (const std::string& line : HeadLines(model, "it checks its results and times its launches"))
    text += Cat("# ", line, "\n");
  return Cat(text, "#\n# Run:  python3 ", FileName(*model.plan, model.options),
             ".py [--no-time]    with CuPy and NumPy; exits with 0: right, 1: wrong, 2: could not run\n\n",
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

}  // namespace

std::string WritePythonProgram(const ProgramModel& model) {
  const ProgramNames names = PythonNames(model);
  const WrittenLines lines = WritePythonLines(model, names);

  std::string text = Cat(PythonHead(model), PythonConstants(model));
  std::vector<std::string_view> files = {"values.py", "check.py", "compile_cuda.py", "cuda.py"};
  files.insert(files.end(), lines.runtime.begin(), lines.runtime.end());
  for (const std::string_view file : files) text += Cat("\n\n", RuntimeText(file));
  text += PythonDebugPart(model);
  text += PythonKernels(model, names);
  text += Cat("\n\n# ---- The plan. The expected outputs are at the end.\n\n\n", PythonInputs(model, names), "\n\n",
              lines.text, "\n\n", RuntimeText("main.py"), "\n\n", PythonExpected(model, names));
  return text + "\nif __name__ == \"__main__\":\n    sys.exit(main())\n";
}

absl::StatusOr<std::string> PythonProgram(const Plan& plan, const ProgramOptions& options) {
  if (options.target.dialect != device::Dialect::kCuda) {
    return absl::InvalidArgumentError(Cat(
        "plan '", plan.name, "': Python programs need CUDA, because they use CuPy; write a C++ program for OpenCL"));
  }
  ASSIGN_OR_RETURN(const ProgramModel model, MakeProgramModel(plan, options));
  return WritePythonProgram(model);
}

}  // namespace telemetry::worker::wrapper::program
