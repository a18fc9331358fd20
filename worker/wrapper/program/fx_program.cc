#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/wrapper/program/fx_lines.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/python_text.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

namespace {

std::string FxHead(const ProgramModel& model) {
  const bool is_cuda = model.options.target.dialect == device::Dialect::kCuda;
  std::string text = "#!/usr/bin/env python3\n";
  for (const std::string& line : HeadLines(model, "make_graph_module() returns it as a torch.fx.GraphModule")) {
    text += Cat("# ", line, "\n");
  }
  return Cat(text, "#\n# Run:  python3 ", FileName(*model.plan, model.options),
             "_fx.py    checks the results, with PyTorch, NumPy and ", is_cuda ? "CuPy" : "PyOpenCL",
             "; exits with 0: right, 1: wrong, 2: could not run\n\n", RuntimeText("head.py"), "\n",
             PythonOptions(model));
}

// Returns the row of a kernel in the table SOURCES: its code, its launch, and the numbers in the places of its
// parameters, with None for tensors.
std::string SourceRow(const ProgramModel& model, const ProgramKernel& kernel, const std::string& source) {
  std::vector<std::string> numbers;
  for (const SourceParameter& parameter : kernel.source->parameters) {
    const auto* number = std::get_if<SourceNumber>(&parameter);
    numbers.push_back(number == nullptr ? "None" : PythonSourceNumber(*number));
  }
  return Cat("    ", Quoted(kernel.name), ": (", Quoted(kernel.generated.function), ", ", source, ", ",
             TextTuple(SourceCompileOptions(model, *kernel.source)), ", ", LaunchShapeText(*kernel.source), ", (",
             absl::StrJoin(numbers, ", "), ",)),\n");
}

// Returns the tables of the kernels that `launch` and `launch_source` run.
std::string KernelTable(const ProgramModel& model, const ProgramNames& names) {
  std::string text = "\nKERNELS = {\n";
  std::string sources;
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const ProgramKernel& kernel = model.kernels[i];
    if (kernel.source != nullptr) {
      sources += SourceRow(model, kernel, names.sources[i]);
      continue;
    }
    text += Cat("    ", Quoted(kernel.name), ": (", Quoted(kernel.generated.function), ", ", names.sources[i], "),\n");
  }
  return Cat(text, "}\n", sources.empty() ? "" : Cat("\nSOURCES = {\n", sources, "}\n"));
}

}  // namespace

absl::StatusOr<std::string> FxProgram(const Plan& plan, const ProgramOptions& options) {
  if (options.debug.is_on()) {
    return absl::InvalidArgumentError(Cat("plan '", plan.name,
                                          "': FX programs have no debug calls; show the values with "
                                          "torch.fx.Interpreter, or write a program in C++ or Python"));
  }
  ASSIGN_OR_RETURN(const ProgramModel model, MakeProgramModel(plan, options, CheckTorchExtern));
  const ProgramNames names = FxNames(model);
  const WrittenLines lines = WriteFxLines(model, names);

  std::string text = FxHead(model);
  std::vector<std::string_view> files = {"values.py", "check.py", "fx.py"};
  if (options.target.dialect == device::Dialect::kCuda) {
    files.insert(files.end(), {"compile_cuda.py", "fx_cuda.py"});
  } else {
    files.emplace_back("fx_opencl.py");
  }
  files.insert(files.end(), lines.runtime.begin(), lines.runtime.end());
  for (const std::string_view file : files) text += Cat("\n\n", RuntimeText(file));
  text += Cat(PythonKernels(model, names), KernelTable(model, names),
              "\n\n# ---- The plan. The expected outputs are at the end.\n\n\n", PythonInputs(model, names), "\n\n",
              lines.text, "\n\n", RuntimeText("fx_main.py"), "\n\n", PythonExpected(model, names));
  return Cat(text, "\nEXPECTED = [", absl::StrJoin(names.expected, ", "),
             "]\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n");
}

}  // namespace telemetry::worker::wrapper::program
