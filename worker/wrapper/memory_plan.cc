#include "worker/wrapper/memory_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/wrapper/memory_budget.h"
#include "worker/wrapper/size_class.h"
#include "worker/wrapper/subgraphs.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper {

using record::Cat;

namespace {

// Returns the maximum of the bytes that are held while a line runs; nullopt if `bytes_of` a buffer is not known. A
// branch ends with the memory that it began with, so that the lines can be followed in their order.
template <typename BytesOf>
std::optional<int64_t> HighestHeld(const Plan& plan, const BytesOf& bytes_of) {
  constexpr int64_t kMost = int64_t{1} << 60;
  int64_t now = 0;
  int64_t highest = 0;
  for (const Line& line : plan.lines) {
    const LineEffects effects = ComputeEffects(line);
    const bool is_reuse = std::holds_alternative<Reuse>(line);
    if (is_reuse) now -= *bytes_of(effects.frees);
    for (const int id : effects.makes) {
      const std::optional<int64_t> bytes = bytes_of(id);
      if (!bytes.has_value() || *bytes > kMost - now) return std::nullopt;
      now += *bytes;
    }
    highest = std::max(highest, now);
    if (effects.frees >= 0 && !is_reuse) now -= *bytes_of(effects.frees);
  }
  return highest;
}

int CountAllocations(const Plan& plan) {
  return static_cast<int>(std::count_if(plan.lines.begin(), plan.lines.end(),
                                        [](const Line& line) { return std::holds_alternative<Allocate>(line); }));
}

// The lines that use a buffer, directly or through a view; -1: none. A subgraph or a conditional inside the lines of
// the buffer's subgraph is used as a whole.
struct Uses {
  int first = -1;
  int last = -1;
};

// Returns, by buffer, the subgraph in which a line makes its memory; -1: none.
std::vector<int> FindHomes(const Plan& plan, const Subgraphs& subgraphs) {
  std::vector<int> homes(plan.buffers.size(), -1);
  for (size_t i = 0; i < plan.lines.size(); ++i) {
    for (const int id : ComputeEffects(plan.lines[i]).makes) homes[static_cast<size_t>(id)] = subgraphs.of_line[i];
  }
  return homes;
}

std::vector<Uses> FindUses(const Plan& plan) {
  const std::vector<Place> places = ComputePlaces(plan);
  const Subgraphs subgraphs = FindSubgraphs(plan);
  const std::vector<int> homes = FindHomes(plan, subgraphs);
  std::vector<Uses> uses(plan.buffers.size());
  const auto add = [&](int id, size_t line) {
    const auto root = static_cast<size_t>(places[static_cast<size_t>(id)].root);
    const Subgraphs::Part part = subgraphs.PartOf(line, homes[root]);
    if (uses[root].first < 0) uses[root].first = static_cast<int>(part.first);
    uses[root].last = static_cast<int>(part.last);
  };
  for (size_t i = 0; i < plan.lines.size(); ++i) {
    const Line& line = plan.lines[i];
    const LineEffects effects = ComputeEffects(line);
    for (const int id : effects.uses) add(id, i);
    // These lines are not moved: allocations by a library, reuses, and frees with Free.
    const bool is_fixed_make = !std::holds_alternative<Allocate>(line);
    for (const int id : effects.makes) {
      if (is_fixed_make) add(id, i);
    }
    if (effects.frees >= 0 && !std::holds_alternative<FreeIfNotReused>(line)) add(effects.frees, i);
  }
  for (const int id : plan.outputs) {
    Uses& of = uses[static_cast<size_t>(places[static_cast<size_t>(id)].root)];
    if (of.first < 0) of.first = of.last = static_cast<int>(plan.lines.size());
  }
  return uses;
}

// Moves allocations to the first uses, and releases behind the last ones.
Plan Tightened(const Plan& plan) {
  const std::vector<Uses> uses = FindUses(plan);
  std::map<int, std::vector<Line>> before;
  std::map<int, std::vector<Line>> behind;
  Plan tightened = plan;
  tightened.lines.clear();
  for (const Line& line : plan.lines) {
    const auto* allocated = std::get_if<Allocate>(&line);
    const auto* released = std::get_if<FreeIfNotReused>(&line);
    if (allocated != nullptr) before[uses[static_cast<size_t>(allocated->buffer)].first].push_back(line);
    if (released != nullptr) behind[uses[static_cast<size_t>(released->buffer)].last].push_back(line);
  }
  const auto append = [&](const std::vector<Line>& lines) {
    tightened.lines.insert(tightened.lines.end(), lines.begin(), lines.end());
  };
  for (size_t i = 0; i < plan.lines.size(); ++i) {
    const Line& line = plan.lines[i];
    append(before[static_cast<int>(i)]);
    if (!std::holds_alternative<Allocate>(line) && !std::holds_alternative<FreeIfNotReused>(line)) {
      tightened.lines.push_back(line);
    }
    append(behind[static_cast<int>(i)]);
  }
  append(before[static_cast<int>(plan.lines.size())]);
  return tightened;
}

// A pass that gives released memory to the allocations that follow.
class Reuser {
 public:
  // `budget` is that of the plan.
  Reuser(Plan* plan, MemoryBudget* budget) : plan_(*plan), budget_(*budget), is_dropped_(plan_.lines.size()) {}

  void Run() {
    std::vector<Line> lines = plan_.lines;
    for (size_t i = 0; i < lines.size(); ++i) {
      Line& line = lines[i];
      if (std::holds_alternative<EnterSubgraph>(line)) {
        pools_.emplace_back();
      } else if (std::holds_alternative<ExitSubgraph>(line)) {
        pools_.pop_back();
      } else if (const auto* released = std::get_if<FreeIfNotReused>(&line)) {
        if (is_planned_[released->buffer]) pools_.back()[budget_.KeyOf(released->buffer)].push_back(i);
      } else if (const auto* allocated = std::get_if<Allocate>(&line)) {
        is_planned_[allocated->buffer] = true;
        Serve(i, allocated->buffer, &line);
      } else if (const auto* reused = std::get_if<Reuse>(&line)) {
        is_planned_[reused->to] = true;
      }
    }
    plan_.lines = Finished(std::move(lines));
  }

 private:
  void Serve(size_t at, int buffer, Line* line) {
    std::vector<size_t>& released = pools_.back()[budget_.KeyOf(buffer)];
    // The nearest release is tried first: an earlier one would hold the memory longer.
    if (released.empty() || !budget_.Allows(released.back(), at, buffer)) return;
    const size_t from = released.back();
    released.pop_back();
    budget_.Hold(from, at, buffer);
    is_dropped_[from] = true;
    *line = Reuse{.from = std::get<FreeIfNotReused>(plan_.lines[from]).buffer, .to = buffer};
  }

  std::vector<Line> Finished(std::vector<Line> lines) const {
    std::vector<Line> finished;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (is_dropped_[i]) continue;
      const auto* released = std::get_if<FreeIfNotReused>(&lines[i]);
      finished.push_back(released == nullptr ? std::move(lines[i]) : Line(Free{released->buffer}));
    }
    return finished;
  }

  Plan& plan_;
  MemoryBudget& budget_;
  std::vector<bool> is_dropped_;
  std::map<int, bool> is_planned_;  // by buffer: the plan allocated its memory
  // By subgraph that is open, from the plan on: lines that release a buffer, by the key of its memory.
  std::vector<std::map<MemoryBudget::Key, std::vector<size_t>>> pools_ =
      std::vector<std::map<MemoryBudget::Key, std::vector<size_t>>>(1);
};

// Checks that the forms of the buffers give their sizes.
absl::Status CheckForms(const Plan& plan) {
  for (const PlanBuffer& buffer : plan.buffers) {
    for (size_t i = 0; i < buffer.sizes.size(); ++i) {
      const SizeForm form = buffer.FormOf(i);
      if (!form.is_known() || form.At(plan.symbols) == buffer.sizes[i]) continue;
      return absl::InternalError(Cat("plan '", plan.name, "': buffer '", buffer.name, "', dimension ", i, " is ",
                                     buffer.sizes[i], ", but '", form.ToString(plan.symbols), "' for all sizes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(const Plan& plan, MemoryScope scope) {
  RETURN_IF_ERROR(VerifyPlan(plan));
  const bool is_for_all = scope == MemoryScope::kAllSizes;
  if (is_for_all) RETURN_IF_ERROR(CheckForms(plan));
  const Plan tightened = Tightened(plan);
  const std::unique_ptr<MemoryBudget> budget =
      is_for_all ? BudgetForAllSizes(tightened) : BudgetForTheseSizes(tightened);
  MemoryPlan planned{
      .plan = tightened, .peak_bytes_before = PeakBytes(plan), .allocations_before = CountAllocations(plan)};
  Reuser(&planned.plan, budget.get()).Run();
  planned.peak_bytes_after = PeakBytes(planned.plan);
  planned.allocations_after = CountAllocations(planned.plan);
  if (absl::Status status = VerifyPlan(planned.plan); !status.ok()) {
    return absl::InternalError(status.message());
  }
  return planned;
}

int64_t PeakBytes(const Plan& plan) {
  // The sum of the buffers is below 2^60 bytes for every plan that fits into memory.
  return HighestHeld(plan, [&](int id) { return std::optional(SizeClass(plan.buffer(id).bytes())); })
      .value_or(INT64_MAX);
}

std::optional<int64_t> MostPeakBytes(const Plan& plan) {
  return HighestHeld(plan, [&](int id) -> std::optional<int64_t> {
    const PlanBuffer& buffer = plan.buffer(id);
    const SizeForm bytes = buffer.ElementForm() * SizeForm(static_cast<int64_t>(SizeOf(buffer.dtype)));
    const std::optional<int64_t> most = bytes.UpperBound(plan.symbols);
    if (!most.has_value() || *most > int64_t{1} << 60) return std::nullopt;
    return SizeClass(*most);
  });
}

}  // namespace telemetry::worker::wrapper
