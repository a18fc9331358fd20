#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// One parameter of the generated function.
struct Parameter {
  enum class Kind { kTensor, kScalar, kSize, kStride };
  Kind kind = Kind::kTensor;
  int index = 0;      // of the tensor or scalar in the device IR
  int dimension = 0;  // kSize, kStride: the dimension; passed as int64, and only if it is not static
};

// A generated kernel: the source text and the launch parameters of the compiled function. The source includes no other
// file. The same IR, config, target and options give the same text.
struct GeneratedKernel {
  struct GridAxis {
    ir::Size extent;
    int64_t block = 1;
  };

  std::string source;
  std::string function;  // the name of the function in `source`
  std::vector<Parameter> parameters;
  int threads = 32;              // of a block
  size_t shared_bytes = 0;       // of a block
  std::vector<GridAxis> grid;    // the number of tiles is the product of ceil(extent / block)
  int64_t persistent_tiles = 0;  // upper limit of the tiles in progress at once; 0: no limit
  int64_t cluster_blocks = 1;    // blocks for each tile in progress
  int tensor_core_dots = 0;      // dots of the IR that run on tensor cores
  bool spills = false;           // CUDA: a value has more elements in each thread than a thread has registers
  int64_t loaded_bytes = 0;      // by all blocks together, at least; 0: not known (plan::LoadedBytes)

  // Returns the number of blocks of a launch with these tensors, which have the sizes of the actual arguments and
  // outputs. 0 if there is no work.
  int64_t GridSize(const std::vector<ir::HostTensor>& tensors) const;
};

}  // namespace telemetry::worker::codegen
