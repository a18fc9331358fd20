#pragma once

#include <string>

namespace telemetry {

// Absolute folders of this build, without a slash at the end. Functions, not macros: then a test's own source compiles
// to the same object in every clone, which a compiler's cache can give back.
std::string BinDir();       // the built programs
std::string TestdataDir();  // tests/testdata

}  // namespace telemetry
