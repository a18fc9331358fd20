#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/dialect.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// Loads and stores as the config numbers them. Pure functions.

// A load or a store of a graph that was traced, not of one made by rolling.
struct Access {
  int graph = 0;
  int node = 0;
  bool is_store = false;
};

// The index of a load's or a store's tensor.
int TensorOf(const ir::Graph& graph, const ir::Node& node);

// All axes that a store walks: of its indices and of its value.
std::vector<int> StoreAxes(const ir::Graph& graph, const ir::Node& node);

// In the order in which the kernel's function reads, bodies of loops and branches where they stand.
std::vector<Access> AccessesOf(const ir::DeviceIr& ir);

// Which access of that list a node is, or was before its graph was rolled.
int AccessIndexOf(const ir::DeviceIr& ir, const std::vector<Access>& accesses, int graph, int node);

// The tensor's elements lie next to each other along this axis, as far as this access goes.
bool IsContiguous(const ir::DeviceIr& ir, const ir::Graph& graph, const ir::Node& node, int axis);

// Up to how many neighbours along `axis`, a power of two not above `most`, every group of them that starts at a
// multiple of itself is aligned to its own size. 1 where nothing is known. `blocks`: of each axis.
int64_t AlignedVector(const ir::DeviceIr& ir, const ir::Graph& graph, const ir::Node& node, int axis, int64_t most,
                      const std::vector<int64_t>& blocks);

// The tensor's offsets, or the axes' positions, may need 64 bits.
bool IsWide(const ir::HostTensor& tensor);
bool IsWide(const ir::Axis& axis);

}  // namespace telemetry::worker::codegen
