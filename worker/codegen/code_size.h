#pragma once

#include <string_view>

namespace telemetry::worker::codegen {

// The size of the code of a config, from which the time of its compiler can be estimated. A line in a loop that is
// unrolled counts once for each repetition. The numbers begin at 1, because estimates use their logarithms.
struct CodeSize {
  double characters = 1;  // of the source, without indentation
  double elements = 1;    // of the arrays of a thread
  double wgmmas = 1;      // instructions for products of matrices that a whole warpgroup executes (wgmma)
  friend bool operator==(const CodeSize&, const CodeSize&) = default;
};

// Returns the size of a source. Reads the lines as the generator writes them: one statement in each, `UNROLL` and
// `_Pragma("unroll 4")` in the line before a loop, and braces at the ends of lines. Loops of at most eight repetitions
// count as unrolled. The size of other code is rough.
CodeSize MeasureCodeSize(std::string_view source);

}  // namespace telemetry::worker::codegen
