#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/codegen/code_writer.h"
#include "worker/device/compile_options.h"
#include "worker/wrapper/program/program.h"
#include "worker/wrapper/program/program_model.h"
#include "worker/wrapper/program/program_text.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

// Words of Python, and what the program's own functions are called.
constexpr std::string_view kTaken[] = {"False",
                                       "None",
                                       "True",
                                       "and",
                                       "as",
                                       "assert",
                                       "async",
                                       "await",
                                       "break",
                                       "class",
                                       "continue",
                                       "def",
                                       "del",
                                       "elif",
                                       "else",
                                       "except",
                                       "finally",
                                       "for",
                                       "from",
                                       "global",
                                       "if",
                                       "import",
                                       "in",
                                       "is",
                                       "lambda",
                                       "nonlocal",
                                       "not",
                                       "or",
                                       "pass",
                                       "raise",
                                       "return",
                                       "try",
                                       "while",
                                       "with",
                                       "yield",
                                       "allocate",
                                       "check_output",
                                       "compile_kernel",
                                       "cupy",
                                       "extern_layer_norm",
                                       "extern_product",
                                       "launch",
                                       "main",
                                       "make_input",
                                       "make_inputs",
                                       "np",
                                       "run_plan",
                                       "view"};

std::string Number(double value, int digits = 0) { return NumberText(value, digits, "np.inf", "np.nan"); }

// "(2, 3)", "(2,)".
std::string TupleText(const std::vector<int64_t>& numbers) {
  return Cat("(", absl::StrJoin(numbers, ", "), numbers.size() == 1 ? ",)" : ")");
}

// Writes a plan's lines as the body of a function, each below its text.
class PythonLines {
 public:
  PythonLines(const ProgramModel& model, codegen::CodeWriter* out)
      : model_(model), plan_(*model.plan), names_(kTaken), out_(*out) {
    for (const PlanBuffer& buffer : plan_.buffers) buffers_.push_back(names_.Of(buffer.name));
    for (const ProgramKernel& kernel : model.kernels) {
      kernels_.push_back(names_.Of(kernel.name));
      sources_.push_back(names_.Of(Cat(kernel.name, "_source")));
    }
    for (const int output : plan_.outputs) expected_.push_back(names_.Of(Cat("expected_", plan_.buffer(output).name)));
  }

  const std::string& source(size_t kernel) const { return sources_[kernel]; }
  const std::string& expected(size_t output) const { return expected_[output]; }
  // What extern calls need of runtime/.
  const std::set<std::string_view>& parts() const { return parts_; }

  void Write() {
    WriteInputs();
    std::vector<std::string> inputs;
    for (const int input : plan_.inputs) inputs.push_back(Name(input));
    Top("def run_plan(", absl::StrJoin(inputs, ", "), "):");
    for (line_ = 0; line_ < plan_.lines.size(); ++line_) {
      const Line& line = plan_.lines[line_];
      const auto* comment = std::get_if<Comment>(&line);
      Body("# ", CommentText(comment == nullptr ? plan_.LineText(line) : comment->text));
      std::visit(*this, line);
    }
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const PlanBuffer& output = plan_.buffer(plan_.outputs[i]);
      Body("check_output(", Quoted(ShortName(output.dtype)), ", ", Name(plan_.outputs[i]), ", *", expected_[i], ")");
    }
  }

  void operator()(const DefineKernel& line) {
    for (size_t i = 0; i < model_.kernels.size(); ++i) {
      const ProgramKernel& kernel = model_.kernels[i];
      if (kernel.kernel != line.kernel) continue;
      Body(kernels_[i], " = compile_kernel(", Quoted(kernel.generated.function), ", ", sources_[i], ")");
    }
  }
  void operator()(const Allocate& line) { Body(Name(line.buffer), " = ", NewMemory(line.buffer)); }
  void operator()(const Free& line) { Body("del ", Name(line.buffer)); }
  void operator()(const FreeIfNotReused& line) { Body("del ", Name(line.buffer)); }
  void operator()(const Reuse& line) {
    Body(Name(line.to), " = ", ViewText(line.from, line.to, 0));
    Body("del ", Name(line.from));
  }
  void operator()(const Reinterpret& line) {
    Body(Name(line.view), " = ", ViewText(line.base, line.view, line.offset));
  }
  void operator()(const CallKernel&) {
    const ProgramLaunch& launch = model_.launches[line_];
    const ProgramKernel& kernel = model_.kernel(launch);
    const codegen::GeneratedKernel& generated = kernel.generated;
    std::vector<std::string> parts = {Quoted(kernel.name), kernels_[static_cast<size_t>(launch.kernel)],
                                      Cat(launch.grid), Cat(generated.threads), Cat(generated.shared_bytes)};
    for (const ProgramArgument& argument : launch.arguments) parts.push_back(ArgumentText(argument));
    Body("launch(", absl::StrJoin(parts, ", "), ")");
  }
  void operator()(const CallExtern& line) {
    std::vector<std::string> outputs;
    for (const int output : line.call.outputs) outputs.push_back(Name(output));
    WriteExtern(line.call, outputs);
  }
  void operator()(const CallExternAllocating& line) {
    std::vector<std::string> outputs;
    if (line.pack.empty()) {
      Body(Name(line.call.outputs[0]), " = ", NewMemory(line.call.outputs[0]));
      outputs.push_back(Name(line.call.outputs[0]));
    } else {
      const std::string& pack = packs_.emplace(line.pack, names_.Of(line.pack)).first->second;
      std::vector<std::string> parts;
      for (const int output : line.call.outputs) {
        outputs.push_back(Cat(pack, "[", parts.size(), "]"));
        parts.push_back(NewMemory(output));
      }
      Body(pack, " = [", absl::StrJoin(parts, ", "), "]");
    }
    WriteExtern(line.call, outputs);
  }
  void operator()(const Unpack& line) {
    Body(Name(line.buffer), ", ", packs_[line.pack], "[", line.index, "] = ", packs_[line.pack], "[", line.index,
         "], None");
  }
  void operator()(const Comment&) {}

 private:
  template <typename... Parts>
  void Top(const Parts&... parts) {
    out_.Line(parts...);
  }
  template <typename... Parts>
  void Body(const Parts&... parts) {
    out_.Line("    ", parts...);
  }

  const std::string& Name(int buffer) const { return buffers_[static_cast<size_t>(buffer)]; }

  void WriteInputs() {
    Top("def make_inputs():");
    std::vector<std::string> made;
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      const PlanBuffer& buffer = plan_.buffer(plan_.inputs[i]);
      const kernels::DrawRange& range = model_.ranges[i];
      Body("# ", CommentText(InputText(model_, i)));
      made.push_back(Name(plan_.inputs[i]));
      Body(made.back(), " = make_input(", Quoted(ShortName(buffer.dtype)), ", ", TupleText(buffer.sizes), ", ",
           TupleText(buffer.strides), ", ", buffer.span(), ", ", Number(range.low), ", ", Number(range.high), ")");
    }
    Body("return [", absl::StrJoin(made, ", "), "]");
    Top();
    Top();
  }

  std::string NewMemory(int buffer) const {
    const PlanBuffer& made = plan_.buffer(buffer);
    return Cat("allocate(", Quoted(ShortName(made.dtype)), ", ", TupleText(made.sizes), ", ", TupleText(made.strides),
               ", ", AllocatedElements(made), ")");
  }

  std::string ViewText(int base, int view, int64_t offset) const {
    const PlanBuffer& shown = plan_.buffer(view);
    return Cat("view(", Name(base), ", ", TupleText(shown.sizes), ", ", TupleText(shown.strides), ", ", offset, ")");
  }

  std::string ArgumentText(const ProgramArgument& argument) const {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) return Name(buffer->buffer);
    if (const auto* number = std::get_if<int64_t>(&argument)) return Cat("np.int64(", *number, ")");
    return Cat("np.float32(", Number(std::get<float>(argument), 9), ")");
  }

  void WriteExtern(const KernelCall& call, const std::vector<std::string>& outputs) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    const bool is_product = ExternKindOf(kernel).value() == ExternKind::kProduct;
    std::vector<std::string> dtypes;
    for (const kernels::TensorSpec& tensor : kernel.problem.tensors) dtypes.push_back(Quoted(ShortName(tensor.dtype)));
    std::vector<std::string> parts = {Cat("(", absl::StrJoin(dtypes, ", "), ")")};
    if (is_product) parts = {Quoted(kernel.name), dtypes[0]};
    for (const int argument : call.arguments) parts.push_back(Name(argument));
    if (!is_product) parts.push_back(Number(call.scalars.at("eps")));
    parts.insert(parts.end(), outputs.begin(), outputs.end());
    Body(is_product ? "extern_product(" : "extern_layer_norm(", absl::StrJoin(parts, ", "), ")");
    parts_.insert(is_product ? "product.py" : "layer_norm.py");
  }

  const ProgramModel& model_;
  const Plan& plan_;
  Names names_;
  codegen::CodeWriter& out_;
  std::vector<std::string> buffers_;   // by buffer of the plan
  std::vector<std::string> kernels_;   // by kernel of the model
  std::vector<std::string> sources_;   // likewise
  std::vector<std::string> expected_;  // by output
  std::map<std::string, std::string, std::less<>> packs_;
  std::set<std::string_view> parts_;
  size_t line_ = 0;
};

std::string Head(const ProgramModel& model) {
  std::string text = "#!/usr/bin/env python3\n";
  for (const std::string& line : HeadLines(model)) text += Cat("# ", line, "\n");
  return Cat(text, "#\n# Run:  python3 ", FileName(*model.plan, model.options),
             ".py [--no-time]    with CuPy and NumPy; exits with 0: right, 1: wrong, 2: wrong usage\n\n"
             "import functools\nimport sys\nimport tempfile\nimport time\n\nimport cupy\nimport numpy as np\n"
             "from cupy.cuda import nvrtc\n\n");
}

std::string Constants(const ProgramModel& model) {
  std::vector<std::string> quoted;
  for (const std::string& option : CudaCompileOptions(Cat("sm_", model.options.target.sm))) {
    quoted.push_back(Quoted(option));
  }
  const std::string measured_ms = model.options.measured_ms.has_value() ? Number(*model.options.measured_ms) : "None";
  return Cat("COMPILE_OPTIONS = (", absl::StrJoin(quoted, ", "), ")\nSEED = ", model.options.seed,
             "  # of the inputs\nSTRIPES = ", Expectation::kStripes, "\nMEASURED_MS = ", measured_ms,
             "  # of its launches\n");
}

std::string ExpectedText(const ProgramModel& model, size_t output, const std::string& name) {
  const PlanBuffer& buffer = model.plan->buffer(model.plan->outputs[output]);
  const Expectation& expected = model.expected[output];
  std::vector<std::string> samples;
  for (const double sample : expected.samples) samples.push_back(Number(sample, DigitsOf(buffer.dtype)));
  std::vector<std::string> stripes;
  for (const Stripe& stripe : expected.stripes) {
    stripes.push_back(Cat("(", Number(stripe.sum, 12), ", ", Number(stripe.tolerance, 4), ")"));
  }
  return Cat(name, " = (\n    ", Quoted(buffer.name), ", ", Number(expected.tolerance.absolute, 9), ", ",
             Number(expected.tolerance.relative, 9), ", ", expected.not_finite, ",\n    [", WrappedList(samples, 8),
             "],\n    [", WrappedList(stripes, 4), "])\n");
}

}  // namespace

absl::StatusOr<std::string> PythonProgram(const Plan& plan, const ProgramOptions& options) {
  if (options.target.dialect != Dialect::kCuda) {
    return absl::InvalidArgumentError(
        Cat("plan '", plan.name, "': Python programs are for CUDA, which is what CuPy has; OpenCL's are in C++"));
  }
  const absl::StatusOr<ProgramModel> model = MakeProgramModel(plan, options);
  if (!model.ok()) return model.status();
  codegen::CodeWriter body;
  PythonLines lines(*model, &body);
  lines.Write();

  std::string text = Cat(Head(*model), Constants(*model));
  std::vector<std::string_view> files = {"values.py", "check.py", "cuda.py"};
  files.insert(files.end(), lines.parts().begin(), lines.parts().end());
  for (const std::string_view file : files) text += Cat("\n\n", RuntimeText(file));
  text += "\n\n# ---- The kernels.\n";
  for (size_t i = 0; i < model->kernels.size(); ++i) {
    text += Cat("\n", lines.source(i), " = r'''", model->kernels[i].generated.source, "'''\n");
  }
  text += Cat("\n\n# ---- The plan. What has to come out of it stands at the end.\n\n\n", body.text(), "\n\n",
              RuntimeText("main.py"), "\n\n");
  for (size_t i = 0; i < plan.outputs.size(); ++i) text += ExpectedText(*model, i, lines.expected(i));
  return text + "\nif __name__ == \"__main__\":\n    sys.exit(main())\n";
}

}  // namespace telemetry::worker::wrapper
