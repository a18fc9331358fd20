#pragma once

#include <cstddef>
#include <vector>

#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper::program {

// A conditional as torch.cond has it: functions of tensors without side effects.
struct FxConditional {
  size_t last = 0;                 // the line EndIf
  std::vector<Subgraph> branches;  // one or two
  // Buffers from before the conditional whose memory a branch writes. They own their memory.
  std::vector<int> written;
  // Views from before the conditional that a branch reads, of memory that a branch writes.
  std::vector<int> views;
  // The other buffers from before the conditional that a branch reads, and those of `written`.
  std::vector<int> operands;
};

// Returns the conditional that begins at the line `first` of a verified plan.
FxConditional FindConditional(const Plan& plan, const Subgraphs& subgraphs, size_t first);

}  // namespace telemetry::worker::wrapper::program
