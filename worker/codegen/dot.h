#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// A node's argument in a layout set.
using ValueIn = std::function<TileValue(const ir::Arg& arg, int set)>;

// A dot: its operands go to shared memory, from whatever layout each is in; every thread then multiplies and adds up
// its own registers of the result.
absl::StatusOr<TileValue> EmitDot(TileCode& code, const ir::Graph& graph, int node, const ValueIn& value_in);

}  // namespace telemetry::worker::codegen
