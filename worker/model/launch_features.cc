#include "worker/model/launch_features.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace telemetry::worker::model {
namespace {

// Limits of a multiprocessor of sm_80 and sm_90. Other devices only need the same limits in training and use.
constexpr double kThreadsPerUnit = 2048;
constexpr double kSharedBytesPerUnit = 228 << 10;
constexpr double kBlocksPerUnit = 32;

double CountOf(std::string_view word, std::string_view source) {
  double count = 0;
  for (size_t at = source.find(word); at != std::string_view::npos; at = source.find(word, at + word.size())) ++count;
  return count;
}

// Returns the thread blocks that a multiprocessor holds at once, as far as threads and shared memory limit them.
double ResidentBlocks(const codegen::GeneratedKernel& code) {
  double blocks = std::min(kBlocksPerUnit, std::floor(kThreadsPerUnit / std::max(code.threads, 1)));
  if (code.shared_bytes > 0) {
    blocks = std::min(blocks, std::floor(kSharedBytesPerUnit / static_cast<double>(code.shared_bytes)));
  }
  return std::max(blocks, 1.0);
}

struct LaunchNumbers {
  double threads = kNotKnown;
  double tiles = kNotKnown;       // of the grid
  double blocks = kNotKnown;      // of the launch
  double persistent = kNotKnown;  // 1: blocks run several tiles
  double cluster = kNotKnown;
  double shared_bytes = kNotKnown;
  double resident = kNotKnown;   // blocks of a multiprocessor
  double occupancy = kNotKnown;  // fraction of a multiprocessor's threads
  double waves = kNotKnown;
  double wave_use = kNotKnown;  // fraction of the blocks' places that all waves use, the last one included
  double tile_elements = kNotKnown;
  double elements_per_thread = kNotKnown;
  double bytes_per_block = kNotKnown;
  double flops_per_thread = kNotKnown;
  double bytes_per_thread = kNotKnown;
  double threads_on_unit = kNotKnown;  // threads of the launch for each multiprocessor
  double tensor_core_dots = kNotKnown;
  double source_bytes = kNotKnown;
  double statements = kNotKnown;
  double loops = kNotKnown;
  double barriers = kNotKnown;
  double inline_assembly = kNotKnown;
};

LaunchNumbers NumbersOf(const GeneratedLaunch& launch) {
  const codegen::GeneratedKernel& code = launch.code;
  LaunchNumbers numbers;
  numbers.threads = code.threads;
  numbers.tiles = 1;
  numbers.tile_elements = 1;
  for (const codegen::GeneratedKernel::GridAxis& axis : code.grid) {
    numbers.tiles *= std::ceil(static_cast<double>(axis.extent.value) / static_cast<double>(axis.block));
    numbers.tile_elements *= static_cast<double>(axis.block);
  }
  for (const ir::Axis& axis : launch.ir.axes) {
    if (axis.kind == ir::AxisKind::kReduction) numbers.tile_elements *= static_cast<double>(axis.extent.value);
  }
  numbers.blocks = static_cast<double>(code.GridSize(launch.ir.tensors));
  numbers.persistent = code.persistent_tiles > 0 ? 1 : 0;
  numbers.cluster = static_cast<double>(code.cluster_blocks);
  numbers.shared_bytes = static_cast<double>(code.shared_bytes);
  numbers.resident = ResidentBlocks(code);
  numbers.occupancy = std::min(1.0, numbers.resident * numbers.threads / kThreadsPerUnit);
  const double units = std::max(launch.device.compute_units, 1);
  numbers.waves = numbers.blocks / (units * numbers.resident);
  numbers.wave_use = numbers.waves / std::max(1.0, std::ceil(numbers.waves));
  numbers.elements_per_thread = numbers.tile_elements / numbers.threads / numbers.cluster;
  const double blocks = std::max(numbers.blocks, 1.0);
  numbers.bytes_per_block = launch.cost.bytes / blocks;
  numbers.bytes_per_thread = numbers.bytes_per_block / numbers.threads;
  numbers.flops_per_thread = launch.cost.flops / blocks / numbers.threads;
  numbers.threads_on_unit = blocks * numbers.threads / units;
  numbers.tensor_core_dots = code.tensor_core_dots;
  numbers.source_bytes = static_cast<double>(code.source.size());
  numbers.statements = CountOf(";", code.source);
  numbers.loops = CountOf("for (", code.source);
  numbers.barriers = CountOf("__syncthreads", code.source) + CountOf("barrier(", code.source);
  numbers.inline_assembly = CountOf("asm", code.source);
  return numbers;
}

}  // namespace

void AddLaunchFeatures(const GeneratedLaunch* launch, FeatureRow* row) {
  const LaunchNumbers numbers = launch == nullptr ? LaunchNumbers() : NumbersOf(*launch);
  row->Add("launch.threads", numbers.threads);
  row->Add("launch.tiles", numbers.tiles);
  row->Add("launch.blocks", numbers.blocks);
  row->Add("launch.persistent", numbers.persistent);
  row->Add("launch.cluster", numbers.cluster);
  row->Add("launch.shared_bytes", numbers.shared_bytes);
  row->Add("launch.resident_blocks", numbers.resident);
  row->Add("launch.occupancy", numbers.occupancy);
  row->Add("launch.waves", numbers.waves);
  row->Add("launch.wave_use", numbers.wave_use);
  row->Add("launch.tile_elements", numbers.tile_elements);
  row->Add("launch.elements_per_thread", numbers.elements_per_thread);
  row->Add("launch.bytes_per_block", numbers.bytes_per_block);
  row->Add("launch.bytes_per_thread", numbers.bytes_per_thread);
  row->Add("launch.flops_per_thread", numbers.flops_per_thread);
  row->Add("launch.threads_on_unit", numbers.threads_on_unit);
  row->Add("launch.tensor_core_dots", numbers.tensor_core_dots);
  row->Add("launch.source_bytes", numbers.source_bytes);
  row->Add("launch.statements", numbers.statements);
  row->Add("launch.loops", numbers.loops);
  row->Add("launch.barriers", numbers.barriers);
  row->Add("launch.inline_assembly", numbers.inline_assembly);
}

}  // namespace telemetry::worker::model
