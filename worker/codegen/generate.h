#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// What the code is for.
struct Target {
  Dialect dialect = Dialect::kOpenCl;
  int sm = 80;            // CUDA: 80 for sm_80, 90 for sm_90
  int compute_units = 1;  // for persistent grids
  int max_threads_per_block = 1024;
  size_t shared_bytes_per_block = 48 << 10;  // the most that a block may use

  static Target For(const DeviceProperties& device);
};

struct GenerateOptions {
  bool allow_tf32 = false;  // dots of f32 on tensor cores, with 10 bits of mantissa
  bool fast_math = false;   // approximate exp, division...
};

// One parameter of the generated function, in order.
struct Parameter {
  enum class Kind { kTensor, kScalar, kSize, kStride };
  Kind kind = Kind::kTensor;
  int index = 0;      // of the tensor or scalar
  int dimension = 0;  // kSize, kStride: passed as int64, only where it is not static
};

// A generated kernel: source text, and how to launch what it compiles to. Self-contained: the source includes nothing.
// The same IR, config, target and options give the same text.
struct GeneratedKernel {
  struct GridAxis {
    ir::Size extent;
    int64_t block = 1;
  };

  std::string source;
  std::string function;
  std::vector<Parameter> parameters;
  int threads = 32;
  size_t shared_bytes = 0;
  std::vector<GridAxis> grid;    // as many blocks as tiles: the product of ceil(extent / block)...
  int64_t persistent_tiles = 0;  // ...but at most so many, when not 0...
  int64_t cluster_blocks = 1;    // ...times so many

  // Blocks of a launch with these tensors (sizes of the actual arguments and outputs). 0 where nothing is to do.
  int64_t GridSize(const std::vector<ir::HostTensor>& tensors) const;
};

// INVALID_ARGUMENT: the config is not in the space (names key and allowed values). RESOURCE_EXHAUSTED: the tile does
// not fit the target's threads or shared memory (says how much is needed). UNIMPLEMENTED names the node.
absl::StatusOr<GeneratedKernel> Generate(const ir::DeviceIr& ir, const Config& config, const Target& target,
                                         const GenerateOptions& options = {});

}  // namespace telemetry::worker::codegen
