#include "worker/codegen/generated_kernel.h"

#include <algorithm>

namespace telemetry::worker::codegen {

int64_t GeneratedKernel::GridSize(const std::vector<ir::HostTensor>& tensors) const {
  int64_t tiles = 1;
  for (const GridAxis& axis : grid) {
    int64_t extent = axis.extent.value;
    if (!axis.extent.is_static && axis.extent.tensor >= 0) {
      const ir::HostTensor& tensor = tensors[static_cast<size_t>(axis.extent.tensor)];
      extent = tensor.sizes[static_cast<size_t>(axis.extent.dimension)].value;
    }
    tiles *= (extent + axis.block - 1) / axis.block;
  }
  return (persistent_tiles > 0 ? std::min(tiles, persistent_tiles) : tiles) * cluster_blocks;
}

}  // namespace telemetry::worker::codegen
