#include "worker/ir/roll.h"

namespace telemetry::worker::ir {

void RollReductions(DeviceIr* ir) { (void)ir; }

}  // namespace telemetry::worker::ir
