#include <algorithm>
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

// Words of C++, and what the program's own functions are called.
constexpr std::string_view kTaken[] = {
    "alignas", "alignof",  "and",         "asm",         "auto",         "bool",     "break",    "case",
    "catch",   "char",     "class",       "compl",       "const",        "continue", "decltype", "default",
    "delete",  "do",       "double",      "else",        "enum",         "explicit", "export",   "extern",
    "false",   "float",    "for",         "friend",      "goto",         "if",       "inline",   "int",
    "long",    "mutable",  "namespace",   "new",         "noexcept",     "not",      "nullptr",  "operator",
    "or",      "private",  "protected",   "public",      "register",     "return",   "short",    "signed",
    "sizeof",  "static",   "struct",      "switch",      "template",     "this",     "throw",    "true",
    "try",     "typedef",  "typeid",      "typename",    "union",        "unsigned", "using",    "virtual",
    "void",    "volatile", "wchar_t",     "while",       "xor",          "int64_t",  "main",     "errno",
    "stdin",   "stdout",   "stderr",      "linux",       "unix",         "assert",   "EOF",      "NULL",
    "NAN",     "INFINITY", "CHECK",       "F32",         "F16",          "BF16",     "I32",      "BOOL",
    "Buffer",  "Kernel",   "Allocate",    "Free",        "View",         "Input",    "Compile",  "Launch",
    "Product", "RunPlan",  "CheckOutput", "HostProduct", "HostLayerNorm"};

std::string_view DTypeWord(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kI32:
      return "I32";
    case DType::kBool:
      return "BOOL";
  }
  return "";
}

std::string Number(double value, int digits = 0) { return NumberText(value, digits, "INFINITY", "NAN"); }

std::string LayoutText(const PlanBuffer& buffer) {
  return Cat("{{", absl::StrJoin(buffer.sizes, ", "), "}, {", absl::StrJoin(buffer.strides, ", "), "}}");
}

bool UsesCublas(const Plan& plan, Dialect dialect) {
  return dialect == Dialect::kCuda && std::any_of(plan.lines.begin(), plan.lines.end(), [&](const Line& line) {
           const KernelCall* call = CallOf(line);
           return call != nullptr && !std::holds_alternative<CallKernel>(line) && IsForCublas(plan, *call);
         });
}

// Writes a plan's lines as the body of a function, each below its text.
class CppLines {
 public:
  CppLines(const ProgramModel& model, codegen::CodeWriter* out)
      : model_(model), plan_(*model.plan), names_(kTaken), out_(*out) {
    for (const PlanBuffer& buffer : plan_.buffers) buffers_.push_back(names_.Of(buffer.name));
    for (const ProgramKernel& kernel : model.kernels) {
      kernels_.push_back(names_.Of(kernel.name));
      sources_.push_back(names_.Of(Cat(kernel.name, "_source")));
    }
    for (const int output : plan_.outputs) expected_.push_back(names_.Of(Cat("expected_", plan_.buffer(output).name)));
    FindUsed();
  }

  const std::string& source(size_t kernel) const { return sources_[kernel]; }
  const std::string& expected(size_t output) const { return expected_[output]; }
  // What extern calls need of runtime/.
  const std::set<std::string_view>& parts() const { return parts_; }

  void Write() {
    out_.Open("void RunPlan()");
    for (size_t i = 0; i < plan_.inputs.size(); ++i) WriteInput(i);
    for (line_ = 0; line_ < plan_.lines.size(); ++line_) {
      const Line& line = plan_.lines[line_];
      const auto* comment = std::get_if<Comment>(&line);
      out_.Line("// ", CommentText(comment == nullptr ? plan_.LineText(line) : comment->text));
      std::visit(*this, line);
    }
    std::set<int> roots;
    const std::vector<Place> places = PlacesOf(plan_);
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      out_.Line("CheckOutput(", Name(plan_.outputs[i]), ", ", expected_[i], ");");
      roots.insert(places[static_cast<size_t>(plan_.outputs[i])].root);
    }
    for (const int root : roots) out_.Line("Free(", Name(root), ");");
    out_.Close();
  }

  void operator()(const DefineKernel& line) {
    for (size_t i = 0; i < model_.kernels.size(); ++i) {
      const ProgramKernel& kernel = model_.kernels[i];
      if (kernel.kernel != line.kernel) continue;
      out_.Line("static const Kernel ", kernels_[i], " = Compile(", Quoted(kernel.generated.function), ", ",
                sources_[i], ");");
    }
  }
  void operator()(const Allocate& line) { Declare(line.buffer, NewMemory(line.buffer)); }
  void operator()(const Free& line) { out_.Line("Free(", Name(line.buffer), ");"); }
  void operator()(const FreeIfNotReused& line) { out_.Line("Free(", Name(line.buffer), ");"); }
  void operator()(const Reuse& line) { Declare(line.to, Name(line.from)); }
  void operator()(const Reinterpret& line) {
    Declare(line.view, Cat("View(", Name(line.base), ", ", line.offset, ", ", plan_.buffer(line.view).span(), ")"));
  }
  void operator()(const CallKernel& line) {
    const ProgramLaunch& launch = model_.launches[line_];
    const ProgramKernel& kernel = model_.kernel(launch);
    const codegen::GeneratedKernel& generated = kernel.generated;
    std::vector<std::string> parts = {Quoted(kernel.name), kernels_[static_cast<size_t>(launch.kernel)],
                                      Cat(launch.grid), Cat(generated.threads), Cat(generated.shared_bytes)};
    for (const ProgramArgument& argument : launch.arguments) parts.push_back(ArgumentText(argument));
    out_.Line("Launch(", absl::StrJoin(parts, ", "), ");");
    (void)line;
  }
  void operator()(const CallExtern& line) {
    std::vector<std::string> outputs;
    for (const int output : line.call.outputs) outputs.push_back(Name(output));
    WriteExtern(line.call, outputs);
  }
  void operator()(const CallExternAllocating& line) {
    std::vector<std::string> outputs;
    if (line.pack.empty()) {
      Declare(line.call.outputs[0], NewMemory(line.call.outputs[0]));
      outputs.push_back(Name(line.call.outputs[0]));
    } else {
      const std::string& pack = packs_.emplace(line.pack, names_.Of(line.pack)).first->second;
      std::vector<std::string> parts;
      for (const int output : line.call.outputs) {
        outputs.push_back(Cat(pack, "[", parts.size(), "]"));
        parts.push_back(NewMemory(output));
      }
      out_.Line("const Buffer ", pack, "[] = {", absl::StrJoin(parts, ", "), "};");
    }
    WriteExtern(line.call, outputs);
  }
  void operator()(const Unpack& line) { Declare(line.buffer, Cat(packs_[line.pack], "[", line.index, "]")); }
  void operator()(const Comment&) {}

 private:
  const std::string& Name(int buffer) const { return buffers_[static_cast<size_t>(buffer)]; }

  std::string NewMemory(int buffer) const {
    const PlanBuffer& made = plan_.buffer(buffer);
    return Cat("Allocate(", DTypeWord(made.dtype), ", ", AllocatedElements(made), ")");
  }

  void Declare(int buffer, const std::string& value) {
    out_.Line(used_.contains(buffer) ? "" : "[[maybe_unused]] ", "const Buffer ", Name(buffer), " = ", value, ";");
  }

  void WriteInput(size_t input) {
    const int id = plan_.inputs[input];
    const PlanBuffer& buffer = plan_.buffer(id);
    const kernels::DrawRange& range = model_.ranges[input];
    out_.Line("// ", CommentText(InputText(model_, input)));
    out_.Line(used_.contains(id) ? "" : "[[maybe_unused]] ", "static const Buffer ", Name(id), " = Input(",
              DTypeWord(buffer.dtype), ", ", buffer.span(), ", ", Number(range.low), ", ", Number(range.high), ");");
  }

  std::string ArgumentText(const ProgramArgument& argument) const {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) return Name(buffer->buffer);
    if (const auto* number = std::get_if<int64_t>(&argument)) return Cat("int64_t(", *number, ")");
    return Cat("float(", Number(std::get<float>(argument), 9), ")");
  }

  std::string TensorText(int buffer) const {
    return Cat("{", Name(buffer), ", ", LayoutText(plan_.buffer(buffer)), "}");
  }

  void WriteExtern(const KernelCall& call, const std::vector<std::string>& outputs) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    const bool is_product = ExternKindOf(kernel).value() == ExternKind::kProduct;
    const bool by_cublas = model_.options.target.dialect == Dialect::kCuda && IsForCublas(plan_, call);
    std::string function = "HostLayerNorm";
    std::vector<std::string> parts;
    if (is_product) function = by_cublas ? "Product" : "HostProduct";
    if (by_cublas) parts.push_back(Quoted(kernel.name));
    for (const int argument : call.arguments) parts.push_back(TensorText(argument));
    if (!is_product) parts.push_back(Number(call.scalars.at("eps")));
    parts.insert(parts.end(), outputs.begin(), outputs.end());
    out_.Line(function, "(", absl::StrJoin(parts, ", "), ");");
    parts_.insert(by_cublas ? "cublas_product.cpp" : is_product ? "host_product.cpp" : "host_layer_norm.cpp");
  }

  // What a line after the one that makes a buffer speaks of: compilers warn of the others.
  void FindUsed() {
    for (const Line& line : plan_.lines) {
      const LineEffects effects = EffectsOf(line);
      if (!std::holds_alternative<Unpack>(line)) used_.insert(effects.uses.begin(), effects.uses.end());
      used_.insert(effects.frees);
    }
    used_.insert(plan_.outputs.begin(), plan_.outputs.end());
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
  std::set<int> used_;
  std::set<std::string_view> parts_;
  size_t line_ = 0;
};

std::string Head(const ProgramModel& model) {
  const Plan& plan = *model.plan;
  std::string text;
  for (const std::string& line : HeadLines(model)) text += Cat("// ", line, "\n");
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
  for (const char* header : {"algorithm", "chrono", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", "iterator",
                             "random", "string", "utility", "vector"}) {
    text += Cat(header == std::string_view("algorithm") ? "\n" : "", "#include <", header, ">\n");
  }
  return text;
}

std::string Constants(const ProgramModel& model) {
  const codegen::Target& target = model.options.target;
  std::string options = Cat("const char kCompileOptions[] = ", Quoted(kOpenClCompileOptions), ";\n");
  if (target.dialect == Dialect::kCuda) {
    std::vector<std::string> quoted;
    for (const std::string& option : CudaCompileOptions(Cat("sm_", target.sm))) quoted.push_back(Quoted(option));
    options = Cat("const char* const kCompileOptions[] = {", absl::StrJoin(quoted, ", "), "};\n");
  }
  const double measured_ms = model.options.measured_ms.value_or(0);
  return Cat(options, "const uint64_t kSeed = ", model.options.seed, ";  // of the inputs\n",
             "const size_t kStripes = ", Expectation::kStripes, ";\n",
             "const double kMeasuredMs = ", Number(measured_ms), ";  // of its launches",
             measured_ms > 0 ? "" : "; 0: not known", "\n");
}

std::string ExpectedText(const ProgramModel& model, size_t output, const std::string& name) {
  const PlanBuffer& buffer = model.plan->buffer(model.plan->outputs[output]);
  const Expectation& expected = model.expected[output];
  std::vector<std::string> samples;
  for (const double sample : expected.samples) samples.push_back(Number(sample, DigitsOf(buffer.dtype)));
  std::vector<std::string> stripes;
  for (const Stripe& stripe : expected.stripes) {
    stripes.push_back(Cat("{", Number(stripe.sum, 12), ", ", Number(stripe.tolerance, 4), "}"));
  }
  return Cat("const Expected ", name, " = {\n    ", Quoted(buffer.name), ", ", LayoutText(buffer), ", ",
             Number(expected.tolerance.absolute, 9), ", ", Number(expected.tolerance.relative, 9), ", ",
             expected.not_finite, ",\n    {", WrappedList(samples, 8), "},\n    {", WrappedList(stripes, 4), "}};\n");
}

}  // namespace

std::string CompileCommand(const Plan& plan, const ProgramOptions& options) {
  const std::string name = FileName(plan, options);
  const std::string command = Cat("g++ -std=c++17 -O2 ", name, ".cpp -o ", name);
  // The loader by its own name: it is there without the packages for development.
  if (options.target.dialect == Dialect::kOpenCl) return Cat(command, " -l:libOpenCL.so.1");
  return Cat(command,
             " -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs"
             " -Wl,-rpath,/usr/local/cuda/lib64",
             UsesCublas(plan, options.target.dialect) ? " -lcublas" : "", " -lnvrtc -lcuda");
}

absl::StatusOr<std::string> CppProgram(const Plan& plan, const ProgramOptions& options) {
  const absl::StatusOr<ProgramModel> model = MakeProgramModel(plan, options);
  if (!model.ok()) return model.status();
  const bool is_cuda = options.target.dialect == Dialect::kCuda;
  codegen::CodeWriter body;
  CppLines lines(*model, &body);
  lines.Write();

  std::string text = Cat(Head(*model), "\n", Includes(*model), "\n", Constants(*model));
  std::vector<std::string_view> files = {"values.cpp", is_cuda ? "cuda.cpp" : "opencl.cpp", "check.cpp", "time.cpp"};
  files.insert(files.end(), lines.parts().begin(), lines.parts().end());
  for (const std::string_view file : files) text += Cat("\n", RuntimeText(file));
  text += "\n// ---- The kernels.\n";
  for (size_t i = 0; i < model->kernels.size(); ++i) {
    text +=
        Cat("\nconst char ", lines.source(i), "[] = R\"KERNEL(", model->kernels[i].generated.source, ")KERNEL\";\n");
  }
  text += "\n// ---- The plan. What has to come out of it stands at the end.\n\n";
  for (size_t i = 0; i < plan.outputs.size(); ++i) text += Cat("extern const Expected ", lines.expected(i), ";\n");
  text += Cat("\n", body.text(), "\n", RuntimeText("main.cpp"), "\n");
  for (size_t i = 0; i < plan.outputs.size(); ++i) text += ExpectedText(*model, i, lines.expected(i));
  return text;
}

}  // namespace telemetry::worker::wrapper
