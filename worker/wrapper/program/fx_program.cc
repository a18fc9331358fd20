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

// Returns the table of the kernels that `launch` runs.
std::string KernelTable(const ProgramModel& model, const ProgramNames& names) {
  std::string text = "\nKERNELS = {\n";
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const ProgramKernel& kernel = model.kernels[i];
    text += Cat("    ", Quoted(kernel.name), ": (", Quoted(kernel.generated.function), ", ", names.sources[i], "),\n");
  }
  return text + "}\n";
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
