#pragma once

#include <string>

namespace telemetry {

// Return absolute paths of folders of this build, without a trailing slash. They are functions instead of macros, so
// that a test's own source compiles to the same object in every clone and the compiler cache can reuse it.
std::string BinDir();       // the built programs
std::string TestdataDir();  // tests/testdata

}  // namespace telemetry
