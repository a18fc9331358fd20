#pragma once

#include <cstdint>
#include <string>

namespace telemetry::storage {

// Pages that were sealed anew.
struct ResealReport {
  uint64_t logged = 0;   // from the log; their recorded seals verified them
  uint64_t foreign = 0;  // written by another program; CheckContent verified the file
};

// For a person.
std::string DescribeReseal(const ResealReport& report);

}  // namespace telemetry::storage
