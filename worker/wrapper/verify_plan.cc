#include "worker/wrapper/verify_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/wrapper/concatenate.h"
#include "worker/wrapper/index_put.h"
#include "worker/wrapper/scatter.h"
#include "worker/wrapper/size_class.h"
#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

bool IsIn(const std::vector<int>& ids, int id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

// The indices of buffers and of a kernel in a line.
struct Indices {
  std::vector<int> buffers;
  int kernel = -1;
};

Indices CollectIndices(const Line& line) {
  const LineEffects effects = ComputeEffects(line);
  Indices indices{.buffers = effects.uses};
  indices.buffers.insert(indices.buffers.end(), effects.makes.begin(), effects.makes.end());
  if (std::holds_alternative<Free>(line) || std::holds_alternative<FreeIfNotReused>(line) ||
      std::holds_alternative<Reuse>(line)) {
    indices.buffers.push_back(effects.frees);
  }
  if (const auto* view = std::get_if<Reinterpret>(&line)) indices.buffers.push_back(view->view);
  return indices;
}

// A verifier that tracks the state of the buffers from line to line.
class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan), buffers_(plan.buffers.size()), defined_(plan.kernels.size()) {}

  absl::Status Verify() {
    RETURN_IF_ERROR(CheckPlan());
    for (const Line& line : plan_.lines) {
      RETURN_IF_ERROR(CheckIndices(line));
      if (std::string why = Follow(line); !why.empty()) return RefuseLine(line, why);
      ++position_;
    }
    return CheckEnd();
  }

 private:
  enum class State { kNotYet, kPacked, kThere, kFreed, kLeft };
  struct Known {
    State state = State::kNotYet;
    int root = -1;  // the buffer that owns the memory, also for views
    int64_t offset = 0;
    bool is_planned = false;  // made by Allocate or Reuse: its memory may be reused
    int freed_at = 0;
    std::string pack;
    int pack_index = 0;
    size_t depth = 0;      // the number of subgraphs around the line that made it
    std::string subgraph;  // whose end ended it
  };
  // A subgraph that is open.
  struct Scope {
    std::string name;
    bool is_branch = false;
    bool is_else = false;
  };
  // The lines that may follow: any one that neither begins nor ends a branch, the begin of a branch, or what follows
  // the end of one.
  enum class Expected { kAny, kBranch, kElseOrEnd, kEnd };

  absl::Status Refuse(std::string_view why) const {
    return absl::InvalidArgumentError(Cat("plan '", plan_.name, "': ", why));
  }
  absl::Status RefuseLine(const Line& line, std::string_view why) const {
    return Refuse(Cat("line ", position_, " (", plan_.LineText(line), "): ", why));
  }
  Known& At(int id) { return buffers_[static_cast<size_t>(id)]; }
  std::string Named(int id) const { return Cat("buffer '", plan_.buffer(id).name, "'"); }
  bool IsBuffer(int id) const { return id >= 0 && static_cast<size_t>(id) < buffers_.size(); }

  absl::Status CheckPlan() {
    for (const PlanBuffer& buffer : plan_.buffers) {
      if (absl::Status status = CheckLayout(buffer); !status.ok()) return Refuse(Cat(status.message()));
      if (IsInteger(buffer.dtype) && buffer.dtype != device::DType::kI32) {
        return Refuse(
            Cat("buffer '", buffer.name, "' is ", ShortName(buffer.dtype), ": the integers of plans are i32"));
      }
    }
    for (const PlanKernel& kernel : plan_.kernels) {
      const bool is_whole =
          kernel.library != nullptr && !kernel.outputs.empty() &&
          kernel.library->tensors.size() == kernel.problem.tensors.size() &&
          (kernel.source == nullptr || (kernel.source->arguments.size() == kernel.problem.tensors.size() &&
                                        kernel.source->outputs.size() == kernel.outputs.size()));
      if (!is_whole) return Refuse(Cat("kernel '", kernel.name, "' lacks arguments or outputs"));
    }
    for (const std::vector<int>* ids : {&plan_.inputs, &plan_.outputs}) {
      for (const int id : *ids) {
        if (!IsBuffer(id)) return Refuse(Cat("no buffer ", id, " among ", buffers_.size()));
      }
    }
    for (const int id : plan_.inputs) At(id) = {.state = State::kThere, .root = id};
    return absl::OkStatus();
  }

  absl::Status CheckIndices(const Line& line) const {
    for (const int id : CollectIndices(line).buffers) {
      if (!IsBuffer(id)) return Refuse(Cat("line ", position_, ": no buffer ", id, " among ", buffers_.size()));
    }
    const auto* definition = std::get_if<DefineKernel>(&line);
    const KernelCall* call = AsKernelCall(line);
    if (definition == nullptr && call == nullptr) return absl::OkStatus();
    const int kernel = call == nullptr ? definition->kernel : call->kernel;
    if (kernel < 0 || static_cast<size_t>(kernel) >= defined_.size()) {
      return Refuse(Cat("line ", position_, ": no kernel ", kernel, " among ", defined_.size()));
    }
    if (call == nullptr) return absl::OkStatus();
    if (plan_.kernel(kernel).source != nullptr && !std::holds_alternative<CallKernel>(line)) {
      return Refuse(Cat("line ", position_, ": kernel '", plan_.kernel(kernel).name,
                        "' is given as source and cannot be called as an external one"));
    }
    return CheckCounts(*call);
  }

  absl::Status CheckCounts(const KernelCall& call) const {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    const auto check = [&](std::string_view what, size_t wanted, size_t given) {
      return wanted == given ? absl::OkStatus()
                             : Refuse(Cat("line ", position_, ": kernel '", kernel.name, "' has ", wanted, " ", what,
                                          ", not ", given));
    };
    RETURN_IF_ERROR(check("arguments", kernel.problem.tensors.size(), call.arguments.size()));
    return check("outputs", kernel.outputs.size(), call.outputs.size());
  }

  // Applies a line to the state. Returns the reason why it cannot be run; empty if it can.
  std::string Follow(const Line& line) {
    if (std::string why = FollowSubgraphs(line); !why.empty()) return why;
    const LineEffects effects = ComputeEffects(line);
    if (const auto* part = std::get_if<Unpack>(&line)) return FollowUnpack(*part);
    for (const int id : effects.uses) {
      if (std::string why = WhyNotThere(id); !why.empty()) return why;
    }
    if (const auto* condition = std::get_if<If>(&line)) return WhyNotPredicate(plan_.buffer(condition->predicate));
    if (const auto* definition = std::get_if<DefineKernel>(&line)) {
      if (!scopes_.empty()) return Cat("is in ", NamedScope(), "; kernels are defined outside subgraphs");
      defined_[static_cast<size_t>(definition->kernel)] = true;
    }
    if (const KernelCall* call = AsKernelCall(line)) {
      if (std::string why = WhyNotCalled(*call); !why.empty()) return why;
    }
    if (const std::optional<Update> update = AsUpdate(line)) return WhyNotUpdated(line, *update);
    if (const auto* joined = std::get_if<Concatenate>(&line)) return WhyNotConcatenatedInto(*joined);
    if (effects.frees >= 0) {
      if (std::string why = FollowFree(effects.frees); !why.empty()) return why;
    }
    if (const auto* reuse = std::get_if<Reuse>(&line)) {
      if (std::string why = WhyNotReused(*reuse); !why.empty()) return why;
    }
    if (const auto* view = std::get_if<Reinterpret>(&line)) return FollowView(*view);
    return FollowMakes(line, effects.makes);
  }

  std::string NamedScope() const { return Cat("subgraph '", scopes_.back().name, "'"); }

  std::string FollowSubgraphs(const Line& line) {
    const bool enters = std::holds_alternative<EnterSubgraph>(line);
    const bool otherwise = std::holds_alternative<Else>(line);
    const bool ends = std::holds_alternative<EndIf>(line);
    if (expected_ == Expected::kBranch && !enters) return "a branch is a subgraph, but enter_subgraph is missing";
    if ((expected_ == Expected::kElseOrEnd || expected_ == Expected::kEnd) && !otherwise && !ends) {
      return "end_if is missing after a branch";
    }
    if (expected_ == Expected::kAny && (otherwise || ends)) return "is not after a branch of a conditional";
    if (expected_ == Expected::kEnd && otherwise) return "is the second else of a conditional";
    if (otherwise || std::holds_alternative<If>(line)) {
      next_is_else_ = otherwise;
      expected_ = Expected::kBranch;
    } else if (enters) {
      return FollowEnter(std::get<EnterSubgraph>(line));
    } else if (ends) {
      expected_ = Expected::kAny;
    } else if (std::holds_alternative<ExitSubgraph>(line)) {
      return FollowExit();
    }
    return "";
  }

  std::string FollowEnter(const EnterSubgraph& line) {
    if (scopes_.size() == kMostSubgraphDepth) return Cat("at most ", kMostSubgraphDepth, " subgraphs can be nested");
    const bool is_branch = expected_ == Expected::kBranch;
    scopes_.push_back({.name = line.name, .is_branch = is_branch, .is_else = is_branch && next_is_else_});
    expected_ = Expected::kAny;
    return "";
  }

  std::string FollowExit() {
    if (scopes_.empty()) return "no subgraph is open";
    for (size_t i = 0; i < buffers_.size(); ++i) {
      Known& known = buffers_[i];
      const int id = static_cast<int>(i);
      if (known.depth != scopes_.size() || known.state == State::kFreed || known.state == State::kLeft) continue;
      if (known.root == id) return Cat(Named(id), " is made in ", NamedScope(), ", but never freed there");
      known.state = State::kLeft;
      known.subgraph = scopes_.back().name;
    }
    const Scope left = scopes_.back();
    scopes_.pop_back();
    expected_ = !left.is_branch ? Expected::kAny : left.is_else ? Expected::kEnd : Expected::kElseOrEnd;
    return "";
  }

  std::string WhyNotThere(int id) {
    const Known& known = At(id);
    if (known.state == State::kLeft) return Cat(Named(id), " ended with subgraph '", known.subgraph, "'");
    if (known.state == State::kNotYet) return Cat(Named(id), " does not exist yet");
    if (known.state == State::kPacked) return Cat(Named(id), " is still in pack '", known.pack, "'");
    const Known& root = At(known.root);
    if (root.state != State::kFreed) return "";
    const std::string of = known.root == id ? "" : Cat(" (a view of '", plan_.buffer(known.root).name, "')");
    return Cat(Named(id), of, " was freed in line ", root.freed_at);
  }

  // Checks that each tensor has the dtype and sizes that the kernel was traced for.
  std::string WhyNotCalled(const KernelCall& call) {
    const PlanKernel& kernel = plan_.kernel(call.kernel);
    if (!defined_[static_cast<size_t>(call.kernel)]) return Cat("kernel '", kernel.name, "' is not defined yet");
    const auto differs = [&](std::string_view what, const kernels::TensorSpec& wanted, int id) -> std::string {
      const PlanBuffer& given = plan_.buffer(id);
      if (wanted.sizes == given.sizes && wanted.dtype == given.dtype) return "";
      return Cat("kernel '", kernel.name, "', ", what, " '", wanted.name, "': is ",
                 ShapeText(wanted.dtype, wanted.sizes), ", not ", given.LayoutText(), " of ", Named(id));
    };
    std::string why;
    for (size_t i = 0; i < call.arguments.size() && why.empty(); ++i) {
      why = differs("argument", kernel.problem.tensors[i], call.arguments[i]);
      const bool must_be_dense = kernel.source != nullptr && why.empty();
      if (must_be_dense) why = WhyNotPassed(kernel.source->arguments[i], plan_.buffer(call.arguments[i]));
    }
    for (size_t i = 0; i < call.outputs.size() && why.empty(); ++i) {
      why = differs("output", kernel.outputs[i], call.outputs[i]);
      if (why.empty()) why = WhyNotWritten(call, i);
    }
    return why;
  }

  std::string WhyNotWritten(const KernelCall& call, size_t index) {
    const int id = call.outputs[index];
    const Known& known = At(id);
    if (!plan_.buffer(id).is_dense()) return Cat(Named(id), " is written, but is not dense");
    if (known.state == State::kNotYet) return "";  // the call allocates it
    if (known.root != id) return Cat(Named(id), " is written, but is a view");
    if (IsIn(plan_.inputs, id)) return Cat(Named(id), " is written, but is an input");
    const auto shares = [&](int other) { return At(other).root == id; };
    if (std::any_of(call.arguments.begin(), call.arguments.end(), shares)) {
      return Cat(Named(id), " is read and written by one call");
    }
    const bool is_twice = std::count(call.outputs.begin(), call.outputs.end(), id) > 1;
    return is_twice ? Cat(Named(id), " is written twice by one call") : "";
  }

  std::string WhyNotUpdated(const Line& line, const Update& put) {
    const PlanBuffer& target = plan_.buffer(put.target);
    const PlanBuffer& indices = plan_.buffer(put.indices);
    const PlanBuffer* values = put.values < 0 ? nullptr : &plan_.buffer(put.values);
    const auto* scatter = std::get_if<Scatter>(&line);
    std::string why = scatter != nullptr ? WhyNotScattered(target, indices, values, put.dimension)
                                         : WhyNotIndexed(target, indices, *values);
    if (why.empty() && values == nullptr) why = WhyNotNumber(target, scatter->number);
    if (!why.empty()) return why;
    if (At(put.target).root != put.target) return Cat(Named(put.target), " is written, but is a view");
    if (IsIn(plan_.inputs, put.target)) return Cat(Named(put.target), " is written, but is an input");
    const auto shares_target = [&](int buffer) { return buffer >= 0 && At(buffer).root == put.target; };
    const bool shares = shares_target(put.indices) || shares_target(put.values);
    return shares ? Cat(Named(put.target), " is read and written by one line") : "";
  }

  std::string WhyNotConcatenatedInto(const Concatenate& line) {
    const std::vector<PlanBuffer> tensors = plan_.Buffers(line.tensors);
    if (std::string why = WhyNotConcatenated(tensors, line.dimension); !why.empty()) return why;
    const PlanBuffer& output = plan_.buffer(line.output);
    const std::vector<int64_t> sizes = ConcatenatedSizes(tensors, line.dimension);
    if (output.dtype != tensors[0].dtype || output.sizes != sizes || !output.is_dense()) {
      return Cat(Named(line.output), " is ", output.LayoutText(), ", but ", ShapeText(tensors[0].dtype, sizes),
                 " is written");
    }
    if (At(line.output).root != line.output) return Cat(Named(line.output), " is written, but is a view");
    if (IsIn(plan_.inputs, line.output)) return Cat(Named(line.output), " is written, but is an input");
    const auto shares = [&](int tensor) { return At(tensor).root == line.output; };
    const bool is_read = std::any_of(line.tensors.begin(), line.tensors.end(), shares);
    return is_read ? Cat(Named(line.output), " is read and written by one line") : "";
  }

  std::string WhyNotReused(const Reuse& reuse) {
    const PlanBuffer& from = plan_.buffer(reuse.from);
    const PlanBuffer& to = plan_.buffer(reuse.to);
    if (!At(reuse.from).is_planned) return Cat(Named(reuse.from), " is not the plan's own memory");
    if (from.dtype != to.dtype) return Cat(ShortName(from.dtype), " memory cannot become ", ShortName(to.dtype));
    if (SizeClass(from.bytes()) == SizeClass(to.bytes())) return "";
    return Cat(Named(reuse.from), " has size class ", SizeClass(from.bytes()), ", ", Named(reuse.to), " needs ",
               SizeClass(to.bytes()));
  }

  std::string FollowFree(int id) {
    if (std::string why = WhyNotThere(id); !why.empty()) return why;
    Known& known = At(id);
    if (known.root != id) return Cat(Named(id), " is a view, which has no memory of its own");
    if (IsIn(plan_.inputs, id)) return Cat(Named(id), " is an input, which belongs to the caller");
    if (known.depth != scopes_.size())
      return Cat(Named(id), " is made outside ", NamedScope(), " and cannot end in it");
    known.state = State::kFreed;
    known.freed_at = position_;
    return "";
  }

  std::string FollowView(const Reinterpret& line) {
    Known& view = At(line.view);
    const Known& base = At(line.base);
    const PlanBuffer& memory = plan_.buffer(base.root);
    if (view.state != State::kNotYet) return Cat(Named(line.view), " exists already");
    if (plan_.buffer(line.view).dtype != memory.dtype) return Cat(Named(line.view), " has another dtype than its base");
    const int64_t span = plan_.buffer(line.view).span();
    // The comparison cannot overflow: layouts are small, but the offset may have any value.
    if (line.offset < 0 || line.offset > memory.span() - base.offset - span) {
      return Cat(Named(line.view), " shows elements ", line.offset, " to ", line.offset, " + ", span, " from element ",
                 base.offset, " of '", memory.name, "', which has ", memory.span());
    }
    view = {.state = State::kThere, .root = base.root, .offset = base.offset + line.offset, .depth = scopes_.size()};
    return "";
  }

  std::string FollowMakes(const Line& line, const std::vector<int>& makes) {
    const auto* allocating = std::get_if<CallExternAllocating>(&line);
    const bool is_packed = allocating != nullptr && makes.size() > 1;
    for (size_t i = 0; i < makes.size(); ++i) {
      Known& known = At(makes[i]);
      if (known.state != State::kNotYet) return Cat(Named(makes[i]), " exists already");
      known = {.state = is_packed ? State::kPacked : State::kThere,
               .root = makes[i],
               .is_planned = !allocating,
               .depth = scopes_.size()};
      if (is_packed) known.pack = allocating->pack;
      known.pack_index = static_cast<int>(i);
    }
    return "";
  }

  std::string FollowUnpack(const Unpack& line) {
    Known& known = At(line.buffer);
    if (known.state != State::kPacked || known.pack != line.pack || known.pack_index != line.index) {
      return Cat(Named(line.buffer), " is not part ", line.index, " of pack '", line.pack, "'");
    }
    if (known.depth != scopes_.size()) return Cat("pack '", line.pack, "' is made outside ", NamedScope());
    known.state = State::kThere;
    return "";
  }

  absl::Status CheckEnd() {
    if (!scopes_.empty()) return Refuse(Cat(NamedScope(), " is not closed"));
    if (expected_ != Expected::kAny) return Refuse("a conditional is not closed");
    for (const int id : plan_.outputs) {
      if (std::string why = WhyNotThere(id); !why.empty()) return Refuse(Cat("output: ", why));
      kept_.push_back(At(id).root);
    }
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const int id = static_cast<int>(i);
      const Known& known = buffers_[i];
      const bool has_memory = known.root == id && known.state != State::kFreed && known.state != State::kNotYet;
      if (has_memory && !IsIn(plan_.inputs, id) && !IsIn(kept_, id)) return Refuse(Cat(Named(id), " is never freed"));
    }
    return absl::OkStatus();
  }

  const Plan& plan_;
  std::vector<Known> buffers_;
  std::vector<bool> defined_;
  std::vector<int> kept_;  // by output: the buffer that owns its memory
  std::vector<Scope> scopes_;
  Expected expected_ = Expected::kAny;
  bool next_is_else_ = false;  // if a branch is expected
  int position_ = 0;
};

}  // namespace

absl::Status VerifyPlan(const Plan& plan) { return Verifier(plan).Verify(); }

}  // namespace telemetry::worker::wrapper
