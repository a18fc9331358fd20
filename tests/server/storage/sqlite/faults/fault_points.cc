#include "tests/server/storage/sqlite/faults/fault_points.h"

namespace telemetry::storage::sqlite {
namespace {

struct Armed {
  FaultPoints::Kind kind = FaultPoints::Kind::kNone;
  int64_t left = 0;
  int code = 0;
  bool repeats = false;
  bool reached = false;
};

Armed armed;

}  // namespace

void FaultPoints::Arm(Kind kind, int64_t nth, int code, bool repeats) {
  armed = {.kind = kind, .left = nth, .code = code, .repeats = repeats};
}

bool FaultPoints::Disarm() {
  const bool reached = armed.reached;
  armed = {};
  return reached;
}

int FaultPoints::Pass(Kind kind) {
  if (kind != armed.kind || armed.left < 0) return 0;
  if (armed.left > 0 && --armed.left > 0) return 0;
  armed.reached = true;
  if (!armed.repeats) armed.left = -1;
  return armed.code;
}

}  // namespace telemetry::storage::sqlite
