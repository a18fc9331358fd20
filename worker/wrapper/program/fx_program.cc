#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/wrapper/program/fx_lines.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/python_text.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

namespace {

std::string FxHead(const ProgramModel& model, std::string_view made, std::string_view flags) {
  const bool is_cuda = model.options.target.dialect == device::Dialect::kCuda;
  std::string text = "#!/usr/bin/env python3\n";
  for (const std::string& line : HeadLines(model, made)) {
    text += Cat("# ", line, "\n");
  }
  return Cat(text, "#\n# Run:  python3 ", FileName(*model.plan, model.options), "_fx.py", flags,
             "    checks the results, with PyTorch, NumPy and ", is_cuda ? "CuPy" : "PyOpenCL",
             "; exits with 0: right, 1: wrong, 2: could not run\n\n", RuntimeText("head.py"), "\n",
             PythonOptions(model));
}

// Returns the row of a kernel in the table SOURCES: its code, its launch, and the numbers in the places of its
// parameters, with None for tensors.
std::string SourceRow(const ProgramModel& model, const ProgramKernel& kernel, const std::string& name,
                      const std::string& source) {
  std::vector<std::string> numbers;
  for (const SourceParameter& parameter : kernel.source->parameters) {
    const auto* number = std::get_if<SourceNumber>(&parameter);
    numbers.push_back(number == nullptr ? "None" : PythonSourceNumber(*number));
  }
  return Cat("    ", Quoted(name), ": (", Quoted(kernel.generated.function), ", ", source, ", ",
             TextTuple(SourceCompileOptions(model, *kernel.source)), ", ", LaunchShapeText(*kernel.source), ", (",
             absl::StrJoin(numbers, ", "), ",)),\n");
}

// Returns the tables of the kernels that `launch` and `launch_source` run.
std::string KernelTable(absl::Span<const ProgramModel> models, absl::Span<const ProgramNames> names) {
  std::string text = "\nKERNELS = {\n";
  std::string sources;
  for (size_t m = 0; m < models.size(); ++m) {
    for (size_t i = 0; i < models[m].kernels.size(); ++i) {
      const ProgramKernel& kernel = models[m].kernels[i];
      const std::string& name = names[m].kernels[i];
      if (kernel.source != nullptr) {
        sources += SourceRow(models[m], kernel, name, names[m].sources[i]);
        continue;
      }
      text += Cat("    ", Quoted(name), ": (", Quoted(kernel.generated.function), ", ", names[m].sources[i], "),\n");
    }
  }
  return Cat(text, "}\n", sources.empty() ? "" : Cat("\nSOURCES = {\n", sources, "}\n"));
}

// Writes the program of the models, with the names of each. `main` and `end` are its last parts.
std::string ProgramOf(absl::Span<const ProgramModel> models, absl::Span<const ProgramNames> names,
                      std::string_view main, std::string_view end, std::string_view made, std::string_view flags = "") {
  std::vector<WrittenLines> lines;
  std::set<std::string_view> runtime;
  for (size_t i = 0; i < models.size(); ++i) {
    lines.push_back(WriteFxLines(models[i], names[i]));
    runtime.insert(lines.back().runtime.begin(), lines.back().runtime.end());
  }
  std::string text = FxHead(models[0], made, flags);
  std::vector<std::string_view> files = {"values.py", "check.py", "fx.py"};
  if (models[0].options.target.dialect == device::Dialect::kCuda) {
    files.insert(files.end(), {"compile_cuda.py", "fx_cuda.py"});
  } else {
    files.emplace_back("fx_opencl.py");
  }
  files.insert(files.end(), runtime.begin(), runtime.end());
  for (const std::string_view file : files) text += Cat("\n\n", RuntimeText(file));
  text += "\n\n# ---- The kernels.\n";
  for (size_t i = 0; i < models.size(); ++i) text += PythonKernels(models[i], names[i]);
  text += Cat(KernelTable(models, names), "\n\n# ---- The plan. The expected outputs are at the end.\n");
  for (size_t i = 0; i < models.size(); ++i) {
    text += Cat("\n\n", PythonInputs(models[i], names[i]), "\n\n", lines[i].text);
  }
  text += Cat("\n\n", main, "\n\n");
  for (size_t i = 0; i < models.size(); ++i) text += PythonExpected(models[i], names[i]);
  return Cat(text, "\n", end, "\nif __name__ == \"__main__\":\n    sys.exit(main())\n");
}

absl::Status RefuseDebugCalls(const Plan& plan, const ProgramOptions& options) {
  if (!options.debug.is_on()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("plan '", plan.name,
                                        "': FX programs have no debug calls; show the values with "
                                        "torch.fx.Interpreter, or write a program in C++ or Python"));
}

// Returns the sizes of the inputs as a tuple of tuples.
std::string InputSizes(const Plan& plan) {
  std::vector<std::string> sizes;
  for (const int input : plan.inputs) sizes.push_back(TupleText(plan.buffer(input).sizes));
  return Cat("(", absl::StrJoin(sizes, ", "), sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

absl::StatusOr<std::string> FxProgram(const Plan& plan, const ProgramOptions& options) {
  RETURN_IF_ERROR(RefuseDebugCalls(plan, options));
  ASSIGN_OR_RETURN(const ProgramModel model, MakeProgramModel(plan, options, CheckTorchExtern));
  const ProgramNames names = FxNames(model);
  return ProgramOf({model}, {names}, RuntimeText("fx_main.py"),
                   Cat("EXPECTED = [", absl::StrJoin(names.expected, ", "), "]\n"),
                   "make_graph_module() returns it as a torch.fx.GraphModule");
}

absl::StatusOr<std::string> FxProgram(absl::Span<const PlanShape> shapes, const ProgramOptions& options) {
  if (!shapes.empty()) RETURN_IF_ERROR(RefuseDebugCalls(shapes[0].plan, options));
  ASSIGN_OR_RETURN(const std::vector<ProgramModel> models, MakeShapeModels(shapes, options, CheckTorchExtern));
  std::vector<ProgramNames> names;
  std::map<std::string, std::string> by_inputs;
  std::string rows;
  for (size_t i = 0; i < models.size(); ++i) {
    names.push_back(FxNames(models[i], i + 1, names));
    const std::string inputs = InputSizes(shapes[i].plan);
    const std::string shape = ShapeTuple(shapes[i]);
    const auto [other, is_new] = by_inputs.emplace(inputs, shape);
    if (!is_new) {
      return absl::InvalidArgumentError(Cat("plan '", shapes[i].plan.name, "': the inputs of the shapes ",
                                            other->second, " and ", shape, " have equal sizes: ", inputs,
                                            "; write a program for each"));
    }
    rows += Cat("    (", shape, ", ", inputs, ", ", names.back().run, ", ", names.back().inputs, ", [",
                absl::StrJoin(names.back().expected, ", "), "]),\n");
  }
  return ProgramOf(
      models, names, Cat(RuntimeText("shapes.py"), "\n\n", RuntimeText("fx_shapes.py")),
      Cat("# The sizes of each shape, those of its inputs, its functions, and its expected outputs.\nSHAPES = [\n",
          rows, "]\n"),
      "make_module() returns it as a module that chooses a torch.fx.GraphModule by the sizes of its inputs",
      " [--size SYMBOL=N]");
}

}  // namespace telemetry::worker::wrapper::program
