#pragma once

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

void RollReductions(DeviceIr* ir);

}  // namespace telemetry::worker::ir
