#include "worker/wrapper/plan_builder.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/ir/half.h"
#include "worker/ir/host_array.h"
#include "worker/wrapper/index_put.h"
#include "worker/wrapper/scatter.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper {

using device::DType;
using record::Cat;

namespace {

bool IsSameKernel(const PlanKernel& a, const PlanKernel& b) {
  const auto have_same_sizes = [](const kernels::TensorSpec& x, const kernels::TensorSpec& y) {
    return x.sizes == y.sizes;
  };
  return a.library == b.library && a.config == b.config && a.problem.ToString() == b.problem.ToString() &&
         std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(), have_same_sizes);
}

std::vector<int64_t> Dense(const std::vector<int64_t>& sizes) { return ir::RowMajorStrides(sizes); }

}  // namespace

void PlanBuilder::Fail(absl::Status status) {
  if (failed()) return;
  error_ = std::move(status);
  error_ = absl::Status(error_.code(), Cat("plan '", plan_.name, "': ", error_.message()));
}

std::string PlanBuilder::WhyNot(BufferRef buffer) const {
  if (buffer.id < 0 || static_cast<size_t>(buffer.id) >= plan_.buffers.size()) {
    return Cat("no buffer ", buffer.id, " among ", plan_.buffers.size());
  }
  const std::string& subgraph = subgraphs_[static_cast<size_t>(buffer.id)];
  if (!subgraph.empty()) return Cat("buffer '", plan_.buffer(buffer.id).name, "' ended with subgraph '", subgraph, "'");
  const int root = roots_[static_cast<size_t>(buffer.id)];
  if (!is_ended_[static_cast<size_t>(root)]) return "";
  const std::string of = root == buffer.id ? "" : Cat(", a view of '", plan_.buffer(root).name, "',");
  return Cat("buffer '", plan_.buffer(buffer.id).name, "'", of, " is used after its free");
}

std::string PlanBuilder::WhyNotThere(absl::Span<const BufferRef> buffers) const {
  std::string why;
  for (const BufferRef buffer : buffers) {
    if (why.empty()) why = WhyNot(buffer);
  }
  return why;
}

std::string PlanBuilder::WhyNotUpdated(BufferRef target, absl::Span<const BufferRef> read) const {
  const std::string is = Cat("buffer '", plan_.buffer(target.id).name, "' is ");
  const auto root = [&](BufferRef buffer) { return roots_[static_cast<size_t>(buffer.id)]; };
  const auto shares = [&](BufferRef buffer) { return root(buffer) == target.id; };
  if (std::any_of(read.begin(), read.end(), shares)) return Cat(is, "read and written by one line");
  if (root(target) != target.id) return Cat(is, "a view, which is only read");
  return is_input_[static_cast<size_t>(target.id)] ? Cat(is, "an input, which is only read") : "";
}

BufferRef PlanBuilder::AddBuffer(PlanBuffer buffer) {
  if (failed()) return {};
  const int id = static_cast<int>(plan_.buffers.size());
  if (buffer.name.empty()) buffer.name = Cat("buf", next_buffer_++);
  if (absl::Status status = CheckLayout(buffer); !status.ok()) {
    Fail(std::move(status));
    return {};
  }
  if (!names_.emplace(buffer.name, id).second) {
    Fail(absl::InvalidArgumentError(Cat("two buffers have the name '", buffer.name, "'")));
    return {};
  }
  plan_.buffers.push_back(std::move(buffer));
  roots_.push_back(id);
  is_input_.push_back(false);
  is_ended_.push_back(false);
  depths_.push_back(scopes_.size());
  subgraphs_.emplace_back();
  return {id};
}

BufferRef PlanBuilder::Input(const std::string& name, DType dtype, std::vector<int64_t> sizes,
                             std::vector<int64_t> strides) {
  if (strides.empty()) strides = Dense(sizes);
  const BufferRef buffer =
      AddBuffer({.name = name, .dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)});
  if (buffer.id < 0) return buffer;
  is_input_[static_cast<size_t>(buffer.id)] = true;
  depths_[static_cast<size_t>(buffer.id)] = 0;
  plan_.inputs.push_back(buffer.id);
  return buffer;
}

BufferRef PlanBuilder::Allocate(const std::string& name, DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = Dense(sizes);
  const BufferRef buffer =
      AddBuffer({.name = name, .dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)});
  if (buffer.id >= 0) plan_.lines.emplace_back(wrapper::Allocate{buffer.id});
  return buffer;
}

BufferRef PlanBuilder::View(BufferRef base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset,
                            const std::string& name) {
  if (failed()) return {};
  if (const std::string why = WhyNot(base); !why.empty()) {
    Fail(absl::InvalidArgumentError(Cat("view '", name, "': ", why)));
    return {};
  }
  const PlanBuffer shown = plan_.buffer(base.id);
  const BufferRef view =
      AddBuffer({.name = name, .dtype = shown.dtype, .sizes = std::move(sizes), .strides = std::move(strides)});
  if (view.id < 0) return {};
  const int64_t span = plan_.buffer(view.id).span();
  if (offset < 0 || offset > shown.span() - span) {
    Fail(absl::InvalidArgumentError(Cat("view '", plan_.buffer(view.id).name, "': shows elements ", offset, " to ",
                                        offset, " + ", span, " of '", shown.name, "', which has ", shown.span())));
    return {};
  }
  roots_[static_cast<size_t>(view.id)] = roots_[static_cast<size_t>(base.id)];
  plan_.lines.emplace_back(Reinterpret{.view = view.id, .base = base.id, .offset = offset});
  return view;
}

void PlanBuilder::SetForms(BufferRef buffer, std::vector<SizeForm> forms) {
  if (failed() || buffer.id < 0) return;
  PlanBuffer& declared = plan_.buffers[static_cast<size_t>(buffer.id)];
  if (forms.size() == declared.sizes.size()) {
    declared.forms = std::move(forms);
    return;
  }
  Fail(absl::InvalidArgumentError(Cat("buffer '", declared.name, "' has ", declared.sizes.size(), " dimensions, but ",
                                      forms.size(), " sizes are declared")));
}

void PlanBuilder::IndexPut(BufferRef target, BufferRef indices, BufferRef values, bool accumulate) {
  if (failed()) return;
  std::string why = WhyNotThere({target, indices, values});
  if (why.empty()) {
    why = WhyNotIndexed(plan_.buffer(target.id), plan_.buffer(indices.id), plan_.buffer(values.id));
  }
  if (why.empty()) why = WhyNotUpdated(target, {indices, values});
  if (!why.empty()) return Fail(absl::InvalidArgumentError(Cat("index_put: ", why)));
  plan_.lines.emplace_back(
      wrapper::IndexPut{.target = target.id, .indices = indices.id, .values = values.id, .accumulate = accumulate});
}

void PlanBuilder::Scatter(BufferRef target, int dimension, BufferRef indices, BufferRef values, Reduction reduction) {
  if (failed()) return;
  std::string why = WhyNotThere({target, indices, values});
  if (why.empty()) {
    why = WhyNotScattered(plan_.buffer(target.id), plan_.buffer(indices.id), &plan_.buffer(values.id), dimension);
  }
  if (why.empty()) why = WhyNotUpdated(target, {indices, values});
  if (!why.empty()) return Fail(absl::InvalidArgumentError(Cat("scatter: ", why)));
  plan_.lines.emplace_back(wrapper::Scatter{
      .target = target.id, .indices = indices.id, .values = values.id, .dimension = dimension, .reduction = reduction});
}

void PlanBuilder::Scatter(BufferRef target, int dimension, BufferRef indices, double number, Reduction reduction) {
  if (failed()) return;
  std::string why = WhyNotThere({target, indices});
  if (why.empty()) why = WhyNotScattered(plan_.buffer(target.id), plan_.buffer(indices.id), nullptr, dimension);
  if (why.empty()) why = WhyNotUpdated(target, {indices});
  if (why.empty()) {
    number = ir::RoundTo(plan_.buffer(target.id).dtype, number);
    why = WhyNotNumber(plan_.buffer(target.id), number);
  }
  if (!why.empty()) return Fail(absl::InvalidArgumentError(Cat("scatter: ", why)));
  plan_.lines.emplace_back(wrapper::Scatter{
      .target = target.id, .indices = indices.id, .dimension = dimension, .reduction = reduction, .number = number});
}

void PlanBuilder::End(BufferRef buffer, bool may_be_reused) {
  if (failed()) return;
  std::string why = WhyNot(buffer);
  if (why.empty()) {
    const auto id = static_cast<size_t>(buffer.id);
    const auto named = [&](std::string_view is) { return Cat("buffer '", plan_.buffers[id].name, "' ", is); };
    if (is_input_[id]) why = named("is an input, which belongs to the caller");
    if (roots_[id] != buffer.id) why = named("is a view, which has no memory of its own");
    const auto is_of = [&](int output) { return roots_[static_cast<size_t>(output)] == buffer.id; };
    if (std::any_of(plan_.outputs.begin(), plan_.outputs.end(), is_of)) why = named("is an output of the plan");
    if (why.empty() && depths_[id] != scopes_.size()) {
      why = named(Cat("is made outside subgraph '", scopes_.back().name, "' and cannot end in it"));
    }
  }
  if (!why.empty()) {
    Fail(absl::InvalidArgumentError(Cat("free: ", why)));
    return;
  }
  is_ended_[static_cast<size_t>(buffer.id)] = true;
  if (may_be_reused) {
    plan_.lines.emplace_back(FreeIfNotReused{buffer.id});
  } else {
    plan_.lines.emplace_back(wrapper::Free{buffer.id});
  }
}

void PlanBuilder::Free(BufferRef buffer) { End(buffer, false); }

void PlanBuilder::Release(BufferRef buffer) { End(buffer, true); }

void PlanBuilder::Comment(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  plan_.lines.emplace_back(wrapper::Comment{std::move(text)});
}

void PlanBuilder::Output(BufferRef buffer) {
  if (failed()) return;
  std::string why = WhyNot(buffer);
  if (why.empty() && is_input_[static_cast<size_t>(roots_[static_cast<size_t>(buffer.id)])]) {
    why = Cat("buffer '", plan_.buffer(buffer.id).name, "' is an input or a view of one");
  }
  if (why.empty() && depths_[static_cast<size_t>(buffer.id)] > 0) {
    why = Cat("buffer '", plan_.buffer(buffer.id).name, "' ends with the subgraph that makes it");
  }
  if (!why.empty()) return Fail(absl::InvalidArgumentError(Cat("output: ", why)));
  plan_.outputs.push_back(buffer.id);
}

int PlanBuilder::Define(PlanKernel kernel) {
  int same_name = 0;
  for (size_t i = 0; i < plan_.kernels.size(); ++i) {
    if (IsSameKernel(plan_.kernels[i], kernel)) return static_cast<int>(i);
    if (plan_.kernels[i].library->name == kernel.library->name) ++same_name;
  }
  kernel.name = same_name == 0 ? kernel.library->name : Cat(kernel.library->name, "_", same_name);
  plan_.kernels.push_back(std::move(kernel));
  const int id = static_cast<int>(plan_.kernels.size()) - 1;
  // Kernels are defined outside subgraphs.
  if (scopes_.empty()) {
    plan_.lines.emplace_back(DefineKernel{id});
  } else {
    const size_t at = scopes_.front().first_line++;
    plan_.lines.insert(plan_.lines.begin() + static_cast<std::ptrdiff_t>(at), DefineKernel{id});
  }
  return id;
}

absl::StatusOr<Plan> PlanBuilder::Finish() {
  if (!scopes_.empty()) {
    const std::string_view call = scopes_.back().conditional >= 0 ? "EndIf" : "ExitSubgraph";
    Fail(absl::InvalidArgumentError(Cat("subgraph '", scopes_.back().name, "' is open; call ", call, "() first")));
  }
  for (size_t i = 0; i < plan_.buffers.size() && !failed(); ++i) {
    const int id = static_cast<int>(i);
    const auto shows = [&](int output) { return roots_[static_cast<size_t>(output)] == id; };
    const bool is_given = std::any_of(plan_.outputs.begin(), plan_.outputs.end(), shows);
    if (roots_[i] == id && !is_input_[i] && !is_ended_[i] && !is_given) Release({id});
  }
  if (failed()) return error_;
  RETURN_IF_ERROR(VerifyPlan(plan_));
  return std::move(plan_);
}

}  // namespace telemetry::worker::wrapper
