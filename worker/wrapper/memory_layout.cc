#include "worker/wrapper/memory_layout.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "worker/device/device.h"
#include "worker/wrapper/size_class.h"

namespace telemetry::worker::wrapper {
namespace {

// Memory from its allocation to its end, which several buffers use one after the other (Reuse).
struct Memory {
  int64_t bytes = 0;
  size_t first = 0;  // the lines in which it is used
  size_t last = 0;
  bool is_kept = false;  // beyond the end of the plan
  std::vector<int> buffers = {};
  int64_t offset = 0;
};

int64_t Aligned(int64_t bytes) {
  constexpr auto kStep = static_cast<int64_t>(device::kViewAlignment);
  return (bytes + kStep - 1) / kStep * kStep;
}

std::vector<Memory> FindMemory(const Plan& plan) {
  std::vector<Memory> all;
  std::map<int, size_t> memory_of;  // by buffer that exists
  for (size_t i = 0; i < plan.lines.size(); ++i) {
    const Line& line = plan.lines[i];
    if (const auto* reuse = std::get_if<Reuse>(&line)) {
      // Inputs are never reused.
      const size_t memory = memory_of.extract(reuse->from).mapped();
      memory_of[reuse->to] = memory;
      all[memory].buffers.push_back(reuse->to);
      continue;
    }
    const LineEffects effects = ComputeEffects(line);
    for (const int made : effects.makes) {
      memory_of[made] = all.size();
      all.push_back({.bytes = Aligned(SizeClass(plan.buffer(made).bytes())), .first = i, .buffers = {made}});
    }
    if (effects.frees < 0) continue;
    const auto freed = memory_of.extract(effects.frees);
    if (!freed.empty()) all[freed.mapped()].last = i;
  }
  // Memory that no line frees belongs to the caller: outputs.
  for (const auto& [buffer, memory] : memory_of) all[memory].is_kept = true;
  return all;
}

}  // namespace

MemoryLayout LayOutMemory(const Plan& plan) {
  std::vector<Memory> all = FindMemory(plan);
  std::vector<Memory*> by_size;
  for (Memory& memory : all) {
    if (!memory.is_kept && memory.bytes > 0) by_size.push_back(&memory);
  }
  // Large memory first leaves the fewest gaps.
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Memory* a, const Memory* b) { return a->bytes > b->bytes; });
  MemoryLayout layout = {.offsets = std::vector<int64_t>(plan.buffers.size(), -1)};
  std::vector<const Memory*> placed;  // by offset
  for (Memory* memory : by_size) {
    for (const Memory* other : placed) {
      const bool is_together = memory->first <= other->last && other->first <= memory->last;
      const bool overlaps =
          memory->offset < other->offset + other->bytes && other->offset < memory->offset + memory->bytes;
      if (is_together && overlaps) memory->offset = other->offset + other->bytes;
    }
    const auto is_before = [](const Memory* a, const Memory* b) { return a->offset < b->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), memory, is_before), memory);
    layout.bytes = std::max(layout.bytes, memory->offset + memory->bytes);
    for (const int buffer : memory->buffers) layout.offsets[static_cast<size_t>(buffer)] = memory->offset;
  }
  return layout;
}

}  // namespace telemetry::worker::wrapper
