#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// The loads and stores of a kernel, in the order in which the config numbers them, and facts about their addresses.
// All functions are pure.

// A load or a store of a traced graph. Graphs made by rolling have no accesses of their own.
struct Access {
  int graph = 0;
  int node = 0;
  bool is_store = false;
};

// Returns the index of the tensor that this load or store accesses.
int AccessedTensor(const ir::Graph& graph, const ir::Node& node);

// Reports whether the kernel stores to the tensor.
bool IsStored(const ir::DeviceIr& ir, int tensor);

// Returns all axes of a store: those of its indices and those of its value.
std::vector<int> StoreAxes(const ir::Graph& graph, const ir::Node& node);

// Returns the accesses in program order; the body of a loop or branch is visited at the loop or branch.
std::vector<Access> ListAccesses(const ir::DeviceIr& ir);

// Returns the position of a node in `accesses`. A node of a rolled graph is matched to the traced node that it was
// made from (same operation, tensor and source line).
int AccessIndex(const ir::DeviceIr& ir, const std::vector<Access>& accesses, int graph, int node);

// Reports whether the elements of this access are contiguous in memory along `axis`.
bool IsContiguous(const ir::DeviceIr& ir, const ir::Graph& graph, const ir::Node& node, int axis);

// Returns the widest vector along `axis`, in elements: a power of two, at most `most` and at most 16 bytes, such that
// every vector that starts at a multiple of its length is aligned to its own size. Returns 1 if the alignment is not
// known. `blocks` holds the block size of each axis.
int64_t AlignedVector(const ir::DeviceIr& ir, const ir::Graph& graph, const ir::Node& node, int axis, int64_t most,
                      const std::vector<int64_t>& blocks);

// Reports whether the offsets into the tensor, or the positions along the axis, may need 64 bits.
bool IsWide(const ir::HostTensor& tensor);
bool IsWide(const ir::Axis& axis);

}  // namespace telemetry::worker::codegen
