#include "worker/wrapper/memory_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "proto/base/status_macros.h"
#include "worker/wrapper/size_class.h"
#include "worker/wrapper/subgraphs.h"
#include "worker/wrapper/verify_plan.h"

namespace telemetry::worker::wrapper {
namespace {

int64_t BufferSizeClass(const Plan& plan, int buffer) { return SizeClass(plan.buffer(buffer).bytes()); }

// Returns the bytes that are held while each line runs. A branch ends with the memory that it began with, so that the
// lines can be followed in their order.
std::vector<int64_t> HeldBytes(const Plan& plan) {
  std::vector<int64_t> held;
  int64_t now = 0;
  for (const Line& line : plan.lines) {
    const LineEffects effects = ComputeEffects(line);
    const bool is_reuse = std::holds_alternative<Reuse>(line);
    for (const int id : effects.makes) now += is_reuse ? 0 : BufferSizeClass(plan, id);
    held.push_back(now);
    if (effects.frees >= 0 && !is_reuse) now -= BufferSizeClass(plan, effects.frees);
  }
  return held;
}

int64_t Highest(const std::vector<int64_t>& held) {
  return held.empty() ? 0 : *std::max_element(held.begin(), held.end());
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
  explicit Reuser(Plan plan)
      : plan_(std::move(plan)), held_(HeldBytes(plan_)), budget_(Highest(held_)), is_dropped_(plan_.lines.size()) {}

  Plan Run() {
    for (size_t i = 0; i < plan_.lines.size(); ++i) {
      Line& line = plan_.lines[i];
      if (std::holds_alternative<EnterSubgraph>(line)) {
        pools_.emplace_back();
      } else if (std::holds_alternative<ExitSubgraph>(line)) {
        pools_.pop_back();
      } else if (const auto* released = std::get_if<FreeIfNotReused>(&line)) {
        if (is_planned_[released->buffer]) pools_.back()[ReuseKey(released->buffer)].push_back(i);
      } else if (const auto* allocated = std::get_if<Allocate>(&line)) {
        is_planned_[allocated->buffer] = true;
        Serve(i, allocated->buffer, &line);
      } else if (const auto* reused = std::get_if<Reuse>(&line)) {
        is_planned_[reused->to] = true;
      }
    }
    return Finished();
  }

 private:
  using Key = std::pair<device::DType, int64_t>;

  Key ReuseKey(int buffer) const { return {plan_.buffer(buffer).dtype, BufferSizeClass(plan_, buffer)}; }

  // Returns true if the peak does not rise when the memory is held from one line to the other.
  bool IsWithinBudget(size_t released, size_t allocated, int64_t bytes) const {
    return std::all_of(held_.begin() + static_cast<std::ptrdiff_t>(released) + 1,
                       held_.begin() + static_cast<std::ptrdiff_t>(allocated),
                       [&](int64_t held) { return held + bytes <= budget_; });
  }

  void Serve(size_t at, int buffer, Line* line) {
    std::vector<size_t>& released = pools_.back()[ReuseKey(buffer)];
    const int64_t bytes = BufferSizeClass(plan_, buffer);
    // The nearest release is tried first: an earlier one would hold the memory longer.
    if (released.empty() || !IsWithinBudget(released.back(), at, bytes)) return;
    const size_t from = released.back();
    released.pop_back();
    for (size_t i = from + 1; i < at; ++i) held_[i] += bytes;
    is_dropped_[from] = true;
    *line = Reuse{.from = std::get<FreeIfNotReused>(plan_.lines[from]).buffer, .to = buffer};
  }

  Plan Finished() {
    std::vector<Line> lines;
    for (size_t i = 0; i < plan_.lines.size(); ++i) {
      if (is_dropped_[i]) continue;
      Line& line = plan_.lines[i];
      const auto* released = std::get_if<FreeIfNotReused>(&line);
      lines.push_back(released == nullptr ? std::move(line) : Line(Free{released->buffer}));
    }
    plan_.lines = std::move(lines);
    return std::move(plan_);
  }

  Plan plan_;
  std::vector<int64_t> held_;
  const int64_t budget_;
  std::vector<bool> is_dropped_;
  std::map<int, bool> is_planned_;  // by buffer: the plan allocated its memory
  // By subgraph that is open, from the plan on: lines that release a buffer, by dtype and size class.
  std::vector<std::map<Key, std::vector<size_t>>> pools_ = std::vector<std::map<Key, std::vector<size_t>>>(1);
};

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(const Plan& plan) {
  RETURN_IF_ERROR(VerifyPlan(plan));
  MemoryPlan planned{.plan = Reuser(Tightened(plan)).Run(),
                     .peak_bytes_before = PeakBytes(plan),
                     .allocations_before = CountAllocations(plan)};
  planned.peak_bytes_after = PeakBytes(planned.plan);
  planned.allocations_after = CountAllocations(planned.plan);
  if (absl::Status status = VerifyPlan(planned.plan); !status.ok()) {
    return absl::InternalError(status.message());
  }
  return planned;
}

int64_t PeakBytes(const Plan& plan) { return Highest(HeldBytes(plan)); }

}  // namespace telemetry::worker::wrapper
