#pragma once

#include <cstdint>
#include <string>

namespace telemetry::storage::sqlite {

// The numbers of pages that were sealed.
struct ResealReport {
  uint64_t logged = 0;   // pages from the log, verified by their recorded seals
  uint64_t foreign = 0;  // pages of another program; CheckContent() verified the file
};

// Describes the report for people.
std::string DescribeReseal(const ResealReport& report);

}  // namespace telemetry::storage::sqlite
