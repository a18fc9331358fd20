#include "worker/wrapper/program/cpp_lines.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/codegen/text/code_writer.h"

namespace telemetry::worker::wrapper::program {

using device::DType;
using record::Cat;

namespace {

// Reserved words of C++, and names that the program declares itself.
constexpr std::string_view kTaken =
    "alignas alignof and asm auto bool break case catch char class compl const continue decltype default delete "
    "do double else enum explicit export extern false float for friend goto if inline int long mutable namespace "
    "new noexcept not nullptr operator or private protected public register return short signed sizeof static "
    "struct switch template this throw true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor int64_t main errno stdin stdout stderr linux unix assert EOF NULL NAN INFINITY "
    "CHECK F32 F16 BF16 I32 BOOL Buffer Kernel Allocate Free View Input Compile Launch Product RunPlan Shape "
    "CompileSource LaunchShape LaunchSource QueueSource CheckOutput HostIndexPut HostConcatenate HostScatter IsTrue "
    "HostProduct HostLayerNorm DebugValue DebugTensor "
    "DebugOutput DebugNumber "
    "DebugBegin DebugInputs "
    "DebugBefore "
    "DebugAfter DebugWrote";

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
    default:
      return "";  // no plan has other integers
  }
}

// A writer of the lines of a plan as the body of a function: the code of each line below its text.
class CppLines {
 public:
  CppLines(const ProgramModel& model, const ProgramNames& names) : model_(model), plan_(*model.plan), names_(names) {
    FindUsed();
  }

  WrittenLines Write() && {
    WriteAll();
    return {.text = out_.text(), .runtime = std::move(runtime_)};
  }

  void WriteAll() {
    out_.Open("void ", names_.run, "()");
    for (size_t i = 0; i < plan_.inputs.size(); ++i) WriteInput(i);
    WriteDebugBegin();
    for (line_ = 0; line_ < plan_.lines.size(); ++line_) {
      const Line& line = plan_.lines[line_];
      if (HasComment(line)) out_.Line("// ", CommentText(LineComment(plan_, line)));
      std::visit(*this, line);
    }
    std::set<int> roots;
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      out_.Line("CheckOutput(", Name(plan_.outputs[i]), ", ", names_.expected[i], ");");
      roots.insert(model_.places[static_cast<size_t>(plan_.outputs[i])].root);
    }
    for (const int root : roots) out_.Line("Free(", Name(root), ");");
    out_.Close();
  }

  void operator()(const DefineKernel& line) {
    for (size_t i = 0; i < model_.kernels.size(); ++i) {
      const ProgramKernel& kernel = model_.kernels[i];
      if (kernel.kernel != line.kernel) continue;
      std::string options;  // other than those of generated code
      if (kernel.source != nullptr) {
        std::vector<std::string> quoted;
        for (const std::string& option : SourceCompileOptions(model_, *kernel.source)) quoted.push_back(Quoted(option));
        options = Cat(", {", absl::StrJoin(quoted, ", "), "}");
      }
      out_.Line("static const Kernel ", names_.kernels[i],
                kernel.source == nullptr ? " = Compile(" : " = CompileSource(", Quoted(kernel.generated.function), ", ",
                names_.sources[i], options, ");");
    }
  }
  void operator()(const Allocate& line) { Declare(line.buffer, NewMemory(line.buffer)); }
  void operator()(const Free& line) { out_.Line("Free(", Name(line.buffer), ");"); }
  void operator()(const FreeIfNotReused& line) { out_.Line("Free(", Name(line.buffer), ");"); }
  void operator()(const Reuse& line) { Declare(line.to, Name(line.from)); }
  void operator()(const Reinterpret& line) {
    const Place& place = model_.places[static_cast<size_t>(line.view)];
    Declare(line.view, Cat("View(", Name(place.root), ", ", place.offset, ", ", plan_.buffer(line.view).span(), ")"));
  }
  void operator()(const CallKernel&) {
    const ProgramLaunch& launch = model_.launches[line_];
    const ProgramKernel& kernel = model_.kernel(launch);
    const codegen::GeneratedKernel& generated = kernel.generated;
    std::vector<std::string> parts = {Quoted(kernel.name), names_.kernels[static_cast<size_t>(launch.kernel)]};
    if (kernel.source != nullptr) {
      parts.push_back(ShapeText(*kernel.source));
      runtime_.insert(
          {"source.cpp", kernel.source->dialect == device::Dialect::kCuda ? "source_cuda.cpp" : "source_opencl.cpp"});
    } else {
      parts.insert(parts.end(), {Cat(launch.grid), Cat(generated.threads), Cat(generated.shared_bytes)});
    }
    for (const ProgramArgument& argument : launch.arguments) parts.push_back(ArgumentText(argument));
    WriteDebugBefore({});
    out_.Line(kernel.source == nullptr ? "Launch(" : "LaunchSource(", absl::StrJoin(parts, ", "), ");");
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
      Declare(line.call.outputs[0], NewMemory(line.call.outputs[0]));
      outputs.push_back(Name(line.call.outputs[0]));
    } else {
      const std::string& pack = Pack(line.pack);
      std::vector<std::string> parts;
      for (const int output : line.call.outputs) {
        outputs.push_back(Cat(pack, "[", parts.size(), "]"));
        parts.push_back(NewMemory(output));
      }
      out_.Line("const Buffer ", pack, "[] = {", absl::StrJoin(parts, ", "), "};");
    }
    WriteExtern(line.call, outputs);
  }
  void operator()(const Unpack& line) { Declare(line.buffer, Cat(Pack(line.pack), "[", line.index, "]")); }
  void operator()(const IndexPut& line) {
    WriteDebugBefore({});
    out_.Line("HostIndexPut(", TensorText(line.target), ", ", TensorText(line.indices), ", ", TensorText(line.values),
              ", ", line.accumulate ? "true" : "false", ");");
    WriteDebugAfter();
    runtime_.insert("host_index_put.cpp");
  }
  void operator()(const Scatter& line) {
    WriteDebugBefore({});
    out_.Line("HostScatter(", TensorText(line.target), ", ", line.dimension, ", ", TensorText(line.indices), ", ",
              line.values < 0 ? CppNumber(line.number) : TensorText(line.values), ", ",
              Quoted(ReductionName(line.reduction)), ");");
    WriteDebugAfter();
    runtime_.insert("host_scatter.cpp");
  }
  void operator()(const Concatenate& line) {
    std::vector<std::string> tensors;
    for (const int tensor : line.tensors) tensors.push_back(TensorText(tensor));
    WriteDebugBefore({});
    out_.Line("HostConcatenate({", absl::StrJoin(tensors, ", "), "}, ", line.dimension, ", ", Name(line.output), ");");
    WriteDebugAfter();
    runtime_.insert("host_concatenate.cpp");
  }
  void operator()(const If& line) {
    out_.Open("if (IsTrue(", Name(line.predicate), "))");
    begins_branch_ = true;
    runtime_.insert("predicate.cpp");
  }
  void operator()(const Else&) {
    out_.Open("else");
    begins_branch_ = true;
  }
  void operator()(const EndIf&) {}
  void operator()(const EnterSubgraph&) {
    if (!begins_branch_) out_.Open();
    begins_branch_ = false;
  }
  void operator()(const ExitSubgraph&) { out_.Close(); }
  void operator()(const Comment&) {}

 private:
  // The borders of C++ blocks need no comments.
  static bool HasComment(const Line& line) {
    return !std::holds_alternative<ExitSubgraph>(line) && !std::holds_alternative<Else>(line) &&
           !std::holds_alternative<EndIf>(line);
  }

  const std::string& Pack(const std::string& pack) const { return names_.packs.find(pack)->second; }
  const std::string& Name(int buffer) const { return names_.buffers[static_cast<size_t>(buffer)]; }

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
              DTypeWord(buffer.dtype), ", ", buffer.span(), ", ", CppNumber(range.low), ", ", CppNumber(range.high),
              ");");
  }

  static std::string ShapeText(const SourceKernel& kernel) {
    const device::LaunchShape& shape = kernel.code.shape;
    return Cat("{{", shape.grid, ", ", shape.grid_y, ", ", shape.grid_z, "}, {", shape.threads, ", ", shape.threads_y,
               ", ", shape.threads_z, "}, ", shape.shared_bytes, ", ",
               kernel.changes_what_it_reads() ? "false" : "true", "}");
  }

  static std::string SourceNumberText(const SourceNumber& number) {
    if (number.type == "f32") return Cat("float(", CppNumber(std::get<double>(number.value), 9), ")");
    if (number.type == "f64") return Cat("double(", CppNumber(std::get<double>(number.value), 17), ")");
    if (number.type == "bool") return std::get<bool>(number.value) ? "true" : "false";
    const bool is_unsigned = number.type[0] == 'u';
    return Cat(is_unsigned ? "uint" : "int", number.type.substr(1), "_t(", IntegerText(number),
               is_unsigned ? "u)" : ")");
  }

  std::string ArgumentText(const ProgramArgument& argument) const {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) return Name(buffer->buffer);
    if (const auto* number = std::get_if<int64_t>(&argument)) return Cat("int64_t(", *number, ")");
    if (const auto* number = std::get_if<const SourceNumber*>(&argument)) return SourceNumberText(**number);
    return Cat("float(", CppNumber(std::get<float>(argument), 9), ")");
  }

  std::string TensorText(int buffer) const {
    return Cat("{", Name(buffer), ", ", CppLayout(plan_.buffer(buffer)), "}");
  }

  void WriteExtern(const KernelCall& call, const std::vector<std::string>& outputs) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    const bool is_product = FindExternKind(kernel).value() == ExternKind::kProduct;
    const bool by_cublas = model_.options.target.dialect == device::Dialect::kCuda && IsForCublas(plan_, call);
    std::string function = "HostLayerNorm";
    std::vector<std::string> parts;
    if (is_product) function = by_cublas ? "Product" : "HostProduct";
    if (by_cublas) parts.push_back(Quoted(kernel.name));
    for (const int argument : call.arguments) parts.push_back(TensorText(argument));
    if (!is_product) parts.push_back(CppNumber(call.scalars.at("eps")));
    parts.insert(parts.end(), outputs.begin(), outputs.end());
    WriteDebugBefore(outputs);
    out_.Line(function, "(", absl::StrJoin(parts, ", "), ");");
    WriteDebugAfter();
    runtime_.insert(by_cublas ? "cublas_product.cpp" : is_product ? "host_product.cpp" : "host_layer_norm.cpp");
  }

  // Returns a list of values that the debugger shows. `outputs` are the names of the outputs of a call, or empty if
  // they are those of their buffers.
  std::string DebugList(const std::vector<DebugArgument>& arguments, const std::vector<std::string>& outputs) const {
    std::vector<std::string> parts;
    size_t next = 0;
    for (const DebugArgument& argument : arguments) {
      if (argument.buffer < 0) {
        parts.push_back(Cat("DebugNumber(", Quoted(argument.name), ", ", Quoted(argument.number), ")"));
        continue;
      }
      const PlanBuffer& buffer = plan_.buffer(argument.buffer);
      const bool is_named = argument.is_output && next < outputs.size();
      parts.push_back(Cat(argument.is_output ? "DebugOutput(" : "DebugTensor(", Quoted(argument.name), ", ",
                          Quoted(argument.memory.empty() ? "" : buffer.name), ", ", Quoted(argument.memory), ", {",
                          is_named ? outputs[next++] : Name(argument.buffer), ", ", CppLayout(buffer), "})"));
    }
    return Cat("{", absl::StrJoin(parts, ", "), "}");
  }

  void WriteDebugBegin() {
    if (DebugRuntime(model_) == "debug_values") out_.Line("DebugBegin();");
    if (model_.debug_inputs.empty()) return;
    out_.Line("DebugInputs(", Quoted(plan_.name), ", ", DebugList(model_.debug_inputs, {}), ");");
  }

  void WriteDebugBefore(const std::vector<std::string>& outputs) {
    const std::optional<DebugCall>& call = model_.debug_calls[line_];
    if (!call.has_value()) return;
    if (call->shows_values) {
      const std::string& values = names_.debug_values.at(line_);
      out_.Line("const std::vector<DebugValue> ", values, " = ", DebugList(call->arguments, outputs), ";");
      out_.Line("DebugBefore(", Quoted(call->kernel), ", ", values, ");");
    } else if (call->written.empty()) {
      out_.Line("DebugBefore(", Quoted(call->kernel), ");");
    }
  }

  void WriteDebugAfter() {
    const std::optional<DebugCall>& call = model_.debug_calls[line_];
    if (!call.has_value()) return;
    if (call->written.empty()) return out_.Line("DebugAfter(", Quoted(call->kernel), ");");
    std::vector<std::string> written;
    for (const std::string& memory : call->written) written.push_back(Quoted(memory));
    const std::string values = call->shows_values ? Cat(", ", names_.debug_values.at(line_)) : "";
    out_.Line(call->shows_values ? "DebugAfter(" : "DebugWrote(", Quoted(call->kernel), ", {",
              absl::StrJoin(written, ", "), "}", values, ");");
  }

  // Finds the buffers that a later line than the one that makes them uses. Compilers warn about the others.
  void FindUsed() {
    for (const Line& line : plan_.lines) {
      const LineEffects effects = ComputeEffects(line);
      used_.insert(effects.frees);
      if (const auto* view = std::get_if<Reinterpret>(&line)) {
        used_.insert(model_.places[static_cast<size_t>(view->view)].root);
      } else if (!std::holds_alternative<Unpack>(line)) {
        used_.insert(effects.uses.begin(), effects.uses.end());
      }
    }
    used_.insert(plan_.outputs.begin(), plan_.outputs.end());
  }

  const ProgramModel& model_;
  const Plan& plan_;
  const ProgramNames& names_;
  codegen::text::CodeWriter out_;
  std::set<std::string_view> runtime_;
  std::set<int> used_;
  bool begins_branch_ = false;
  size_t line_ = 0;
};

}  // namespace

std::string CppNumber(double value, int digits) { return NumberText(value, digits, "INFINITY", "NAN"); }

std::string CppLayout(const PlanBuffer& buffer) {
  return Cat("{{", absl::StrJoin(buffer.sizes, ", "), "}, {", absl::StrJoin(buffer.strides, ", "), "}}");
}

ProgramNames CppNames(const ProgramModel& model, size_t shape, absl::Span<const ProgramNames> before) {
  // Inputs are made where they are used.
  return ChooseNames(model, {.taken = kTaken, .run = "RunPlan", .inputs = "MakeInputs"}, shape, before);
}

WrittenLines WriteCppLines(const ProgramModel& model, const ProgramNames& names) {
  return CppLines(model, names).Write();
}

}  // namespace telemetry::worker::wrapper::program
