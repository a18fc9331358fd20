#include "worker/wrapper/program/fx_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/codegen/text/code_writer.h"
#include "worker/wrapper/program/fx_conditional.h"
#include "worker/wrapper/program/python_text.h"

namespace telemetry::worker::wrapper::program {

using device::DType;
using record::Cat;

namespace {

// Reserved words of Python, and names that the program declares itself.
constexpr std::string_view kFxReserved =
    "False None True and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda nonlocal not or pass raise return try while with yield COMPILE_OPTIONS DEVICE "
    "EXPECTED KERNELS SEED SHAPES SOURCES ShapeModule compile_source launch_source add_rows allocate call calls_of "
    "check_output "
    "compile_kernel conditional copy_to cupy dense "
    "device "
    "extern_add extern_attention extern_bmm extern_cross_entropy extern_exp extern_geglu extern_layer_norm "
    "extern_long_sum extern_matmul extern_rms_norm extern_softmax extern_softmax_two_pass extern_sum graph launch "
    "main make_graph_module make_input make_inputs make_module modules np operator random scatter torch view_of_other "
    "wide";

// The kernels of runtime/fx_extern.py.
constexpr std::string_view kTorchKernels[] = {"add",     "attention",        "bmm",      "cross_entropy", "exp",
                                              "geglu",   "layer_norm",       "long_sum", "matmul",        "rms_norm",
                                              "softmax", "softmax_two_pass", "sum"};

// Returns, for each buffer that the plan allocates, the number of elements that the buffer and those that reuse its
// memory need.
std::vector<int64_t> NeededElements(const Plan& plan) {
  std::vector<int64_t> needed;
  for (const PlanBuffer& buffer : plan.buffers) needed.push_back(buffer.span());
  for (auto line = plan.lines.rbegin(); line != plan.lines.rend(); ++line) {
    const auto* reuse = std::get_if<Reuse>(&*line);
    if (reuse == nullptr) continue;
    int64_t& from = needed[static_cast<size_t>(reuse->from)];
    from = std::max(from, needed[static_cast<size_t>(reuse->to)]);
  }
  return needed;
}

// A writer of the lines of a plan as the body of a function that adds nodes to a graph. The graph frees the memory of a
// buffer after its last use, so that lines that free write no code.
class FxLines {
 public:
  FxLines(const ProgramModel& model, const ProgramNames& names)
      : model_(model),
        plan_(*model.plan),
        names_(names),
        needed_(NeededElements(plan_)),
        subgraphs_(FindSubgraphs(plan_)),
        has_conditionals_(std::any_of(plan_.lines.begin(), plan_.lines.end(),
                                      [](const Line& line) { return std::holds_alternative<If>(line); })),
        is_own_(plan_.buffers.size()) {}

  WrittenLines Write() && {
    out_.Line("def ", names_.run, "(device=DEVICE):");
    BeginGraph();
    for (const int input : plan_.inputs) {
      Body(Name(input), " = graph.placeholder(", Quoted(Name(input)), ")");
    }
    WriteLines(0, plan_.lines.size());
    EndGraph(plan_.outputs);
    return {.text = out_.text(), .runtime = std::move(runtime_)};
  }

  void operator()(const DefineKernel&) {}
  void operator()(const Allocate& line) {
    const PlanBuffer& made = plan_.buffer(line.buffer);
    const int64_t elements = needed_[static_cast<size_t>(line.buffer)];
    is_own_[static_cast<size_t>(line.buffer)] = true;
    if (elements == made.span()) {
      Body(Name(line.buffer), " = call(torch.empty_strided, ", TupleText(made.sizes), ", ", TupleText(made.strides),
           ", dtype=", TorchName(made.dtype), ", device=device", NameArgument(line.buffer), ")");
    } else {
      Body(Name(line.buffer), " = allocate(call, ", Quoted(Name(line.buffer)), ", ", TorchName(made.dtype),
           ", device, ", TupleText(made.sizes), ", ", TupleText(made.strides), ", ", elements, ")");
    }
  }
  void operator()(const Free&) {}
  void operator()(const FreeIfNotReused&) {}
  void operator()(const Reuse& line) {
    is_own_[static_cast<size_t>(line.to)] = true;
    WriteView(line.from, line.to, 0);
  }
  void operator()(const Reinterpret& line) {
    const Place& place = model_.places[static_cast<size_t>(line.view)];
    WriteView(place.root, line.view, place.offset);
  }
  void operator()(const CallKernel&) {
    const ProgramLaunch& launch = model_.launches[line_];
    const ProgramKernel& kernel = model_.kernel(launch);
    if (kernel.source != nullptr) return WriteSourceLaunch(launch, kernel);
    std::vector<std::string> parts = {"launch", Quoted(names_.kernels[static_cast<size_t>(launch.kernel)]),
                                      Cat(launch.grid), Cat(kernel.generated.threads),
                                      Cat(kernel.generated.shared_bytes)};
    for (const ProgramArgument& argument : launch.arguments) parts.push_back(ArgumentText(argument));
    Body("call(", absl::StrJoin(parts, ", "), ")");
  }
  void operator()(const CallExtern& line) {
    const std::string& kernel = plan_.kernel(line.call.kernel).library->name;
    if (kernel == "matmul" || kernel == "bmm") {
      Body("call(torch.ops.aten.", kernel == "bmm" ? "bmm" : "mm", ".out, ", Name(line.call.arguments[0]), ", ",
           Name(line.call.arguments[1]), ", out=", Name(line.call.outputs[0]), ")");
      return;
    }
    std::vector<std::string> outputs;
    for (const int output : line.call.outputs) outputs.push_back(Name(output));
    Body("copy_to(call, [", absl::StrJoin(outputs, ", "), "], ", ExternText(line.call), ")");
  }
  void operator()(const CallExternAllocating& line) {
    if (line.pack.empty()) return WriteDense(line.call.outputs[0], Cat(ExternText(line.call), "[0]"));
    Body(Pack(line.pack), " = ", ExternText(line.call));
  }
  void operator()(const Unpack& line) { WriteDense(line.buffer, Cat(Pack(line.pack), "[", line.index, "]")); }
  void operator()(const IndexPut& line) {
    if (line.accumulate && plan_.buffer(line.target).dtype != DType::kF32) {
      Body("add_rows(call, ", Name(line.target), ", ", Name(line.indices), ", ", Name(line.values), ")");
      runtime_.insert("fx_add_rows.py");
      return;
    }
    Body("call(torch.ops.aten.index_put_.default, ", Name(line.target), ", [call(torch.Tensor.to, ", Name(line.indices),
         ", torch.int64)], ", Name(line.values), ", ", line.accumulate ? "True" : "False", ")");
  }
  void operator()(const Scatter& line) {
    const DType dtype = plan_.buffer(line.target).dtype;
    const std::string values = line.values >= 0 ? Name(line.values)
                                                : Cat("call(torch.full_like, ", Name(line.indices), ", ",
                                                      PythonNumber(line.number), ", dtype=", TorchName(dtype), ")");
    Body("scatter(call, ", Name(line.target), ", ", line.dimension, ", ", Name(line.indices), ", ", values, ", ",
         Quoted(ReductionName(line.reduction)), ", ", dtype == DType::kF32 ? "False" : "True", ")");
    runtime_.insert("fx_scatter.py");
  }
  void operator()(const Concatenate& line) {
    std::vector<std::string> tensors;
    for (const int tensor : line.tensors) tensors.push_back(Name(tensor));
    Body("call(torch.ops.aten.copy_.default, ", Name(line.output), ", call(torch.cat, [", absl::StrJoin(tensors, ", "),
         "], ", line.dimension, "))");
  }
  void operator()(const If& line) {
    const FxConditional made = FindConditional(plan_, subgraphs_, line_);
    if (made.written.empty()) {
      Body("# no branch writes a buffer that was made before");
    } else {
      WriteConditional(line, made);
    }
    line_ = made.last;
  }
  void operator()(const Else&) {}
  void operator()(const EndIf&) {}
  void operator()(const EnterSubgraph&) {}
  void operator()(const ExitSubgraph&) {}
  void operator()(const Comment&) {}

 private:
  template <typename... Parts>
  void Body(const Parts&... parts) {
    out_.Line(std::string(4 * depth_, ' '), parts...);
  }

  // The numbers that the kernel gets are in the table SOURCES.
  void WriteSourceLaunch(const ProgramLaunch& launch, const ProgramKernel& kernel) {
    std::vector<std::string> parts = {"launch_source", Quoted(names_.kernels[static_cast<size_t>(launch.kernel)])};
    for (const ProgramArgument& argument : launch.arguments) {
      if (const auto* buffer = std::get_if<BufferArgument>(&argument)) parts.push_back(Name(buffer->buffer));
    }
    Body("call(", absl::StrJoin(parts, ", "), ")");
    if (kernel.source->dialect == device::Dialect::kCuda) {
      runtime_.insert({"compile_source.py", "fx_source_cuda.py"});
    } else {
      runtime_.insert("fx_source_opencl.py");
    }
  }

  void BeginGraph() {
    Body("graph = torch.fx.Graph()");
    Body("call = calls_of(graph)");
    if (has_conditionals_) Body("modules = {}");
  }

  void EndGraph(const std::vector<int>& outputs) {
    Body("graph.output(", NamesTuple(outputs), ")");
    Body("graph.lint()");
    Body("return torch.fx.GraphModule(", has_conditionals_ ? "modules" : "{}", ", graph)");
  }

  // Writes the lines from `begin` to before `end`.
  void WriteLines(size_t begin, size_t end) {
    for (line_ = begin; line_ < end; ++line_) {
      const Line& line = plan_.lines[line_];
      Body("# ", CommentText(LineComment(plan_, line)));
      std::visit(*this, line);
    }
  }

  // Writes the branches as functions that make their graphs, then the call of the conditional.
  void WriteConditional(const If& line, const FxConditional& made) {
    const size_t first = line_;
    std::vector<std::string> branches;
    for (size_t i = 0; i < 2; ++i) {
      const Subgraph* branch = i < made.branches.size() ? &made.branches[i] : nullptr;
      const std::string& name = names_.subgraphs.at(branch == nullptr ? first : branch->enter);
      branches.push_back(Cat(Quoted(name), ": ", name, "()"));
      Body("def ", name, "():");
      ++depth_;
      WriteBranch(made, branch);
      --depth_;
    }
    Body("conditional(graph, modules, ", Name(line.predicate), ", {", absl::StrJoin(branches, ", "), "}, ",
         NamesTuple(made.operands), ", ", NamesTuple(made.written), ")");
    runtime_.insert("fx_cond.py");
  }

  // Writes the body of the function of a branch. It changes copies of the buffers that the conditional writes. A null
  // `branch` returns them unchanged.
  void WriteBranch(const FxConditional& made, const Subgraph* branch) {
    const std::vector<bool> is_own = is_own_;
    BeginGraph();
    for (const int operand : made.operands) {
      is_own_[static_cast<size_t>(operand)] = false;
      Body(Name(operand), " = graph.placeholder(", Quoted(Name(operand)), ")");
    }
    for (const int written : made.written) {
      is_own_[static_cast<size_t>(written)] = true;
      Body(Name(written), " = call(torch.clone, ", Name(written), NameArgument(written), ")");
    }
    for (const int view : made.views) {
      const Place& place = model_.places[static_cast<size_t>(view)];
      WriteView(place.root, view, place.offset);
    }
    if (branch != nullptr) WriteLines(branch->enter + 1, branch->exit);
    EndGraph(made.written);
    is_own_ = is_own;
  }

  std::string NamesTuple(const std::vector<int>& buffers) const {
    std::vector<std::string> names;
    for (const int buffer : buffers) names.push_back(Name(buffer));
    return Cat("(", absl::StrJoin(names, ", "), names.size() == 1 ? ",)" : ")");
  }

  const std::string& Pack(const std::string& pack) const { return names_.packs.find(pack)->second; }
  const std::string& Name(int buffer) const { return names_.buffers[static_cast<size_t>(buffer)]; }
  std::string NameArgument(int buffer) const { return Cat(", name=", Quoted(Name(buffer))); }

  // The memory of the plan begins with the first element of a tensor. That of callers and of operations need not.
  void WriteView(int base, int view, int64_t offset) {
    const PlanBuffer& shown = plan_.buffer(view);
    if (is_own_[static_cast<size_t>(base)]) {
      Body(Name(view), " = call(torch.as_strided, ", Name(base), ", ", TupleText(shown.sizes), ", ",
           TupleText(shown.strides), ", ", offset, NameArgument(view), ")");
    } else {
      Body(Name(view), " = view_of_other(call, ", Quoted(Name(view)), ", ", Name(base), ", ", TupleText(shown.sizes),
           ", ", TupleText(shown.strides), ", ", offset, ")");
    }
  }

  void WriteDense(int buffer, const std::string& value) {
    Body(Name(buffer), " = dense(call, ", Quoted(Name(buffer)), ", ", value, ")");
  }

  std::string ArgumentText(const ProgramArgument& argument) const {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) return Name(buffer->buffer);
    if (const auto* number = std::get_if<int64_t>(&argument)) return Cat(*number);
    return Cat("float(", PythonNumber(std::get<float>(argument), 9), ")");
  }

  // Returns the call of an extern kernel, a list of its results.
  std::string ExternText(const KernelCall& call) {
    runtime_.insert("fx_extern.py");
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    std::vector<std::string> parts = {"call", Cat(TorchName(kernel.outputs[0].dtype))};
    for (const int argument : call.arguments) parts.push_back(Name(argument));
    const kernels::Problem problem = MakeCallProblem(kernel, call);
    for (const kernels::NumberArgument& number : kernel.library->numbers) {
      const double value = problem.number(number.name);
      parts.push_back(number.is_flag ? (value != 0 ? "True" : "False") : PythonNumber(value));
    }
    return Cat("extern_", kernel.library->name, "(", absl::StrJoin(parts, ", "), ")");
  }

  const ProgramModel& model_;
  const Plan& plan_;
  const ProgramNames& names_;
  const std::vector<int64_t> needed_;
  const Subgraphs subgraphs_;
  const bool has_conditionals_;
  std::vector<bool> is_own_;  // by buffer: memory that a line before allocated
  codegen::text::CodeWriter out_;
  std::set<std::string_view> runtime_;
  size_t depth_ = 1;
  size_t line_ = 0;
};

}  // namespace

ProgramNames FxNames(const ProgramModel& model, size_t shape, absl::Span<const ProgramNames> before) {
  return ChooseNames(model, {.taken = kFxReserved, .run = "make_graph_module", .inputs = "make_inputs"}, shape, before);
}

absl::Status CheckTorchExtern(const PlanKernel& kernel) {
  const std::string& name = kernel.library->name;
  if (std::find(std::begin(kTorchKernels), std::end(kTorchKernels), name) != std::end(kTorchKernels)) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      Cat("PyTorch has no operation for the extern kernel '", name, "': call it as a kernel of the plan"));
}

WrittenLines WriteFxLines(const ProgramModel& model, const ProgramNames& names) {
  return FxLines(model, names).Write();
}

}  // namespace telemetry::worker::wrapper::program
