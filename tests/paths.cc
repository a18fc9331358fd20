#include "tests/paths.h"

namespace telemetry {

std::string BinDir() { return TELEMETRY_BIN_DIR; }
std::string TestdataDir() { return TELEMETRY_TESTDATA; }

}  // namespace telemetry
