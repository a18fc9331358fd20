#include "worker/wrapper/memory_budget.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "worker/wrapper/size_class.h"

namespace telemetry::worker::wrapper {
namespace {

// Calls `hold` and `drop` with the buffers whose memory begins or ends, and `at_line` for each line in between. A
// branch ends with the memory that it began with, so that the lines can be followed in their order.
void FollowMemory(const Plan& plan, const std::function<void(int)>& hold, const std::function<void(int)>& drop,
                  const std::function<void()>& at_line) {
  for (const Line& line : plan.lines) {
    const LineEffects effects = ComputeEffects(line);
    const bool is_reuse = std::holds_alternative<Reuse>(line);
    if (is_reuse) drop(effects.frees);
    for (const int id : effects.makes) hold(id);
    at_line();
    if (effects.frees >= 0 && !is_reuse) drop(effects.frees);
  }
}

class TheseSizesBudget final : public MemoryBudget {
 public:
  explicit TheseSizesBudget(const Plan& plan) : plan_(plan) {
    int64_t now = 0;
    FollowMemory(
        plan, [&](int id) { now += ClassOf(id); }, [&](int id) { now -= ClassOf(id); }, [&] { held_.push_back(now); });
    limit_ = held_.empty() ? 0 : *std::max_element(held_.begin(), held_.end());
  }

  Key KeyOf(int buffer) const override { return {plan_.buffer(buffer).dtype, ClassOf(buffer)}; }
  bool Allows(size_t released, size_t allocated, int buffer) override {
    const int64_t bytes = ClassOf(buffer);
    return std::all_of(held_.begin() + static_cast<std::ptrdiff_t>(released) + 1,
                       held_.begin() + static_cast<std::ptrdiff_t>(allocated),
                       [&](int64_t held) { return held + bytes <= limit_; });
  }
  void Hold(size_t released, size_t allocated, int buffer) override {
    for (size_t i = released + 1; i < allocated; ++i) held_[i] += ClassOf(buffer);
  }

 private:
  int64_t ClassOf(int buffer) const { return SizeClass(plan_.buffer(buffer).bytes()); }

  const Plan& plan_;
  std::vector<int64_t> held_;  // bytes, by line
  int64_t limit_ = 0;
};

class AllSizesBudget final : public MemoryBudget {
 public:
  explicit AllSizesBudget(const Plan& plan) : plan_(plan) {
    for (const PlanBuffer& buffer : plan.buffers) sizes_of_.push_back(FindSize(buffer));
    Held now;
    FollowMemory(
        plan, [&](int id) { ++now[SizeOf(id)]; }, [&](int id) { Remove(SizeOf(id), &now); },
        [&] { held_.push_back(now); });
    limits_ = held_;
    std::sort(limits_.begin(), limits_.end());
    limits_.erase(std::unique(limits_.begin(), limits_.end()), limits_.end());
    // Lines with many buffers are more likely to allow one more.
    std::stable_sort(limits_.begin(), limits_.end(), [](const Held& a, const Held& b) { return Count(a) > Count(b); });
  }

  Key KeyOf(int buffer) const override { return {plan_.buffer(buffer).dtype, SizeOf(buffer)}; }
  bool Allows(size_t released, size_t allocated, int buffer) override {
    for (size_t i = released + 1; i < allocated; ++i) {
      Held wanted = held_[i];
      ++wanted[SizeOf(buffer)];
      const auto is_below = [&](const Held& limit) { return IsBelow(wanted, limit); };
      if (std::none_of(limits_.begin(), limits_.end(), is_below)) return false;
    }
    return true;
  }
  void Hold(size_t released, size_t allocated, int buffer) override {
    for (size_t i = released + 1; i < allocated; ++i) ++held_[i][SizeOf(buffer)];
  }

 private:
  using Held = std::map<int, int>;  // the number of buffers by their size, an index in sizes_; never 0

  // Comparisons of two sets; beyond this number, memory is not reused.
  static constexpr int64_t kMostComparisons = 1'000'000;

  int SizeOf(int buffer) const { return sizes_of_[static_cast<size_t>(buffer)]; }

  static int Count(const Held& held) {
    int count = 0;
    for (const auto& [size, buffers] : held) count += buffers;
    return count;
  }

  static void Remove(int size, Held* held) {
    if (--(*held)[size] == 0) held->erase(size);
  }

  // Returns the index of the buffer's size in bytes. An unknown size is equal to no other one.
  int FindSize(const PlanBuffer& buffer) {
    const SizeForm bytes = buffer.ElementForm() * SizeForm(static_cast<int64_t>(device::SizeOf(buffer.dtype)));
    const auto known = std::find(sizes_.begin(), sizes_.end(), bytes);
    if (known != sizes_.end()) return static_cast<int>(known - sizes_.begin());
    sizes_.push_back(bytes);
    return static_cast<int>(sizes_.size()) - 1;
  }

  // Returns true if each buffer of `wanted` has a buffer of its own in `limit` that is at least as large.
  bool IsBelow(const Held& wanted, const Held& limit) {
    if (Count(wanted) > Count(limit) || --comparisons_left_ < 0) return false;
    std::vector<int> smaller;
    std::vector<int> larger;
    for (const auto& [size, count] : wanted) {
      const auto found = limit.find(size);
      const int more = count - (found == limit.end() ? 0 : found->second);
      if (more > 0) smaller.insert(smaller.end(), static_cast<size_t>(more), size);
    }
    for (const auto& [size, count] : limit) {
      const auto found = wanted.find(size);
      const int more = count - (found == wanted.end() ? 0 : found->second);
      if (more > 0) larger.insert(larger.end(), static_cast<size_t>(more), size);
    }
    std::vector<int> partners(larger.size(), -1);  // by buffer of `larger`: its partner in `smaller`
    for (size_t i = 0; i < smaller.size(); ++i) {
      std::vector<bool> is_tried(larger.size());
      if (!FindPartner(static_cast<int>(i), smaller, larger, &is_tried, &partners)) return false;
    }
    return true;
  }

  // Finds a partner for a buffer of `smaller`, and others for those whose partner is taken (an augmenting path).
  bool FindPartner(int buffer, const std::vector<int>& smaller, const std::vector<int>& larger,
                   std::vector<bool>* is_tried, std::vector<int>* partners) {
    for (size_t i = 0; i < larger.size(); ++i) {
      if ((*is_tried)[i] || !FitsInto(smaller[static_cast<size_t>(buffer)], larger[i])) continue;
      (*is_tried)[i] = true;
      if ((*partners)[i] < 0 || FindPartner((*partners)[i], smaller, larger, is_tried, partners)) {
        (*partners)[i] = buffer;
        return true;
      }
    }
    return false;
  }

  // Size classes grow with the sizes.
  bool FitsInto(int smaller, int larger) {
    const auto [known, is_new] = fits_.try_emplace({smaller, larger}, false);
    if (is_new) {
      known->second =
          IsAtMost(sizes_[static_cast<size_t>(smaller)], sizes_[static_cast<size_t>(larger)], plan_.symbols);
    }
    return known->second;
  }

  const Plan& plan_;
  std::vector<SizeForm> sizes_;               // in bytes, each once
  std::vector<int> sizes_of_;                 // by buffer
  std::vector<Held> held_;                    // by line
  std::vector<Held> limits_;                  // those of the plan before, each once
  std::map<std::pair<int, int>, bool> fits_;  // by pairs of sizes
  int64_t comparisons_left_ = kMostComparisons;
};

}  // namespace

std::unique_ptr<MemoryBudget> BudgetForTheseSizes(const Plan& plan) { return std::make_unique<TheseSizesBudget>(plan); }

std::unique_ptr<MemoryBudget> BudgetForAllSizes(const Plan& plan) { return std::make_unique<AllSizesBudget>(plan); }

}  // namespace telemetry::worker::wrapper
