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

// The device that code is generated for: its dialect and its limits.
struct Target {
  Dialect dialect = Dialect::kOpenCl;
  int sm = 80;            // CUDA: 80 for sm_80, 90 for sm_90
  int compute_units = 1;  // determines the size of persistent grids
  int max_threads_per_block = 1024;
  size_t shared_bytes_per_block = 48 << 10;  // upper limit of shared memory in a block

  static Target For(const DeviceProperties& device);
};

// Settings that trade accuracy for speed.
struct GenerateOptions {
  bool allow_tf32 = false;  // compute f32 dots on tensor cores in tf32, with 10 bits of mantissa
  bool fast_math = false;   // use the device's approximate division and elementary functions
};

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

  // Returns the number of blocks of a launch with these tensors, which have the sizes of the actual arguments and
  // outputs. 0 if there is no work.
  int64_t GridSize(const std::vector<ir::HostTensor>& tensors) const;
};

// Generates the source of a kernel for one config; missing keys have their defaults. INVALID_ARGUMENT: the config is
// not in the search space; the message names the key and the allowed values. RESOURCE_EXHAUSTED: the tile exceeds the
// target's threads or shared memory; the message contains the amount that is needed. UNIMPLEMENTED: an operation or a
// dynamic reduction axis is not supported; the message names the node or the axis.
absl::StatusOr<GeneratedKernel> Generate(const ir::DeviceIr& ir, const Config& config, const Target& target,
                                         const GenerateOptions& options = {});

}  // namespace telemetry::worker::codegen
