#include "worker/wrapper/program/python_lines.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/codegen/text/code_writer.h"
#include "worker/wrapper/program/python_text.h"

namespace telemetry::worker::wrapper::program {

using record::Cat;

namespace {

// Reserved words of Python, and names that the program declares itself.
constexpr std::string_view kPythonReserved =
    "False None True and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda nonlocal not or pass raise return try while with yield allocate check_output "
    "compile_kernel compile_source launch_source cupy extern_layer_norm extern_product host_product index_put is_true "
    "launch main make_input make_inputs np run_plan scatter view SHAPES "
    "debug_tensor debug_output debug_number debug_begin debug_inputs debug_before debug_after debug_wrote";

// A writer of the lines of a plan as the body of a function: the code of each line below its text.
class PythonLines {
 public:
  PythonLines(const ProgramModel& model, const ProgramNames& names)
      : model_(model), plan_(*model.plan), names_(names) {}

  WrittenLines Write() && {
    WriteAll();
    return {.text = out_.text(), .runtime = std::move(runtime_)};
  }

  void WriteAll() {
    std::vector<std::string> inputs;
    for (const int input : plan_.inputs) inputs.push_back(Name(input));
    out_.Line("def ", names_.run, "(", absl::StrJoin(inputs, ", "), "):");
    WriteDebugBegin();
    for (line_ = 0; line_ < plan_.lines.size(); ++line_) {
      const Line& line = plan_.lines[line_];
      const bool is_border = std::holds_alternative<Else>(line) || std::holds_alternative<EndIf>(line);
      if (!is_border) Note("# ", CommentText(LineComment(plan_, line)));
      std::visit(*this, line);
    }
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const PlanBuffer& output = plan_.buffer(plan_.outputs[i]);
      Body("check_output(", Quoted(ShortName(output.dtype)), ", ", Name(plan_.outputs[i]), ", *", names_.expected[i],
           ")");
    }
  }

  void operator()(const DefineKernel& line) {
    for (size_t i = 0; i < model_.kernels.size(); ++i) {
      const ProgramKernel& kernel = model_.kernels[i];
      if (kernel.kernel != line.kernel) continue;
      const std::string options =
          kernel.source == nullptr ? "" : Cat(", ", TextTuple(SourceCompileOptions(model_, *kernel.source)));
      Body(names_.kernels[i], kernel.source == nullptr ? " = compile_kernel(" : " = compile_source(",
           Quoted(kernel.generated.function), ", ", names_.sources[i], options, ")");
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
    const Place& place = model_.places[static_cast<size_t>(line.view)];
    Body(Name(line.view), " = ", ViewText(place.root, line.view, place.offset));
  }
  void operator()(const CallKernel&) {
    const ProgramLaunch& launch = model_.launches[line_];
    const ProgramKernel& kernel = model_.kernel(launch);
    const codegen::GeneratedKernel& generated = kernel.generated;
    std::vector<std::string> parts = {Quoted(kernel.name), names_.kernels[static_cast<size_t>(launch.kernel)]};
    if (kernel.source != nullptr) {
      parts.push_back(LaunchShapeText(*kernel.source));
      parts.emplace_back(kernel.source->changes_what_it_reads() ? "False" : "True");
      runtime_.insert({"compile_source.py", "source.py"});
    } else {
      parts.insert(parts.end(), {Cat(launch.grid), Cat(generated.threads), Cat(generated.shared_bytes)});
    }
    for (const ProgramArgument& argument : launch.arguments) parts.push_back(ArgumentText(argument));
    WriteDebugBefore({});
    Body(kernel.source == nullptr ? "launch(" : "launch_source(", absl::StrJoin(parts, ", "), ")");
    WriteDebugAfter();
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
      const std::string& pack = Pack(line.pack);
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
    Body(Name(line.buffer), ", ", Pack(line.pack), "[", line.index, "] = ", Pack(line.pack), "[", line.index,
         "], None");
  }
  void operator()(const IndexPut& line) {
    WriteDebugBefore({});
    Body("index_put(", Quoted(ShortName(plan_.buffer(line.target).dtype)), ", ", Name(line.target), ", ",
         Name(line.indices), ", ", Name(line.values), ", ", line.accumulate ? "True" : "False", ")");
    WriteDebugAfter();
    runtime_.insert("index_put.py");
  }
  void operator()(const Scatter& line) {
    WriteDebugBefore({});
    Body("scatter(", Quoted(ShortName(plan_.buffer(line.target).dtype)), ", ", Name(line.target), ", ", line.dimension,
         ", ", Name(line.indices), ", ", line.values < 0 ? PythonNumber(line.number) : Name(line.values), ", ",
         Quoted(ReductionName(line.reduction)), ")");
    WriteDebugAfter();
    runtime_.insert("scatter.py");
  }
  void operator()(const Concatenate& line) {
    std::vector<std::string> tensors;
    for (const int tensor : line.tensors) tensors.push_back(Name(tensor));
    WriteDebugBefore({});
    Body("cupy.concatenate([", absl::StrJoin(tensors, ", "), "], ", line.dimension, ", out=", Name(line.output), ")");
    WriteDebugAfter();
  }
  void operator()(const If& line) {
    runtime_.insert("predicate.py");
    BeginBranch(Cat("if is_true(", Name(line.predicate), "):"));
  }
  void operator()(const Else&) { BeginBranch("else:"); }
  void operator()(const EndIf&) {}
  void operator()(const EnterSubgraph&) {
    blocks_.push_back({.is_branch = begins_branch_, .first_statement = statements_});
    begins_branch_ = false;
  }
  void operator()(const ExitSubgraph&) {
    const Block left = blocks_.back();
    blocks_.pop_back();
    if (!left.is_branch) return;
    if (statements_ == left.first_statement) Body("pass");
    --depth_;
  }
  void operator()(const Comment&) {}

 private:
  // The code of a subgraph. That of a branch is indented.
  struct Block {
    bool is_branch = false;
    int first_statement = 0;
  };

  void BeginBranch(const std::string& text) {
    Body(text);
    begins_branch_ = true;
    ++depth_;
  }

  template <typename... Parts>
  void Note(const Parts&... parts) {
    out_.Line(std::string(4 * depth_, ' '), parts...);
  }
  template <typename... Parts>
  void Body(const Parts&... parts) {
    Note(parts...);
    ++statements_;
  }

  const std::string& Pack(const std::string& pack) const { return names_.packs.find(pack)->second; }
  const std::string& Name(int buffer) const { return names_.buffers[static_cast<size_t>(buffer)]; }

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
    if (const auto* number = std::get_if<const SourceNumber*>(&argument)) return PythonSourceNumber(**number);
    return Cat("np.float32(", PythonNumber(std::get<float>(argument), 9), ")");
  }

  void WriteExtern(const KernelCall& call, const std::vector<std::string>& outputs) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    const bool is_product = FindExternKind(kernel).value() == ExternKind::kProduct;
    std::vector<std::string> dtypes;
    for (const kernels::TensorSpec& tensor : kernel.problem.tensors) dtypes.push_back(Quoted(ShortName(tensor.dtype)));
    const bool by_cublas = model_.options.target.dialect == device::Dialect::kCuda && IsForCublas(plan_, call);
    std::string function = "extern_layer_norm";
    std::vector<std::string> parts = {Cat("(", absl::StrJoin(dtypes, ", "), ")")};
    if (is_product) {
      function = by_cublas ? "extern_product" : "host_product";
      parts = {dtypes[0]};
      if (by_cublas) parts.insert(parts.begin(), Quoted(kernel.name));
    }
    for (const int argument : call.arguments) parts.push_back(Name(argument));
    if (!is_product) parts.push_back(PythonNumber(call.scalars.at("eps")));
    parts.insert(parts.end(), outputs.begin(), outputs.end());
    WriteDebugBefore(outputs);
    Body(function, "(", absl::StrJoin(parts, ", "), ")");
    WriteDebugAfter();
    runtime_.insert(by_cublas ? "product.py" : is_product ? "host_product.py" : "layer_norm.py");
  }

  // Returns a list of values that the debugger shows. `outputs` are the names of the outputs of a call, or empty if
  // they are those of their buffers.
  std::string DebugList(const std::vector<DebugArgument>& arguments, const std::vector<std::string>& outputs) const {
    std::vector<std::string> parts;
    size_t next = 0;
    for (const DebugArgument& argument : arguments) {
      if (argument.buffer < 0) {
        parts.push_back(Cat("debug_number(", Quoted(argument.name), ", ", Quoted(argument.number), ")"));
        continue;
      }
      const PlanBuffer& buffer = plan_.buffer(argument.buffer);
      const bool is_named = argument.is_output && next < outputs.size();
      parts.push_back(Cat(argument.is_output ? "debug_output(" : "debug_tensor(", Quoted(argument.name), ", ",
                          Quoted(argument.memory.empty() ? "" : buffer.name), ", ", Quoted(argument.memory), ", ",
                          Quoted(ShortName(buffer.dtype)), ", ", is_named ? outputs[next++] : Name(argument.buffer),
                          ", ", TupleText(buffer.strides), ")"));
    }
    return Cat("[", absl::StrJoin(parts, ", "), "]");
  }

  void WriteDebugBegin() {
    if (DebugRuntime(model_) == "debug_values") Body("debug_begin()");
    if (model_.debug_inputs.empty()) return;
    Body("debug_inputs(", Quoted(plan_.name), ", ", DebugList(model_.debug_inputs, {}), ")");
  }

  void WriteDebugBefore(const std::vector<std::string>& outputs) {
    const std::optional<DebugCall>& call = model_.debug_calls[line_];
    if (!call.has_value()) return;
    if (call->shows_values) {
      const std::string& values = names_.debug_values.at(line_);
      Body(values, " = ", DebugList(call->arguments, outputs));
      Body("debug_before(", Quoted(call->kernel), ", ", values, ")");
    } else if (call->written.empty()) {
      Body("debug_before(", Quoted(call->kernel), ")");
    }
  }

  void WriteDebugAfter() {
    const std::optional<DebugCall>& call = model_.debug_calls[line_];
    if (!call.has_value()) return;
    if (call->written.empty()) return Body("debug_after(", Quoted(call->kernel), ")");
    std::vector<std::string> written;
    for (const std::string& memory : call->written) written.push_back(Quoted(memory));
    const std::string values = call->shows_values ? names_.debug_values.at(line_) : "";
    Body(call->shows_values ? "debug_after(" : "debug_wrote(", Quoted(call->kernel), ", [",
         absl::StrJoin(written, ", "), "]", values.empty() ? "" : ", ", values, ")");
    // The list would keep memory that the plan frees.
    if (call->shows_values) Body("del ", values);
  }

  const ProgramModel& model_;
  const Plan& plan_;
  const ProgramNames& names_;
  codegen::text::CodeWriter out_;
  std::set<std::string_view> runtime_;
  std::vector<Block> blocks_;  // from the outside in
  bool begins_branch_ = false;
  size_t depth_ = 1;
  int statements_ = 0;
  size_t line_ = 0;
};

}  // namespace

ProgramNames PythonNames(const ProgramModel& model, size_t shape, absl::Span<const ProgramNames> before) {
  return ChooseNames(model, {.taken = kPythonReserved, .run = "run_plan", .inputs = "make_inputs"}, shape, before);
}

WrittenLines WritePythonLines(const ProgramModel& model, const ProgramNames& names) {
  return PythonLines(model, names).Write();
}

}  // namespace telemetry::worker::wrapper::program
