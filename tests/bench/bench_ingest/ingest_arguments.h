#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace telemetry::bench {

// The rate of the paced measurement.
inline constexpr double kPacedRowsPerS = 10000;

// The arguments of bench-ingest; --help describes them.
struct IngestArguments {
  uint64_t rows = 1000000;
  std::vector<int> producers = {1, 8, 64};
  std::vector<int> collectors = {1};
  std::string db;              // postgresql://...; empty: SQLite
  std::string collector;       // address of a collector that serves already; empty: starts collectors
  uint64_t first_attempt = 0;  // of each run
  std::string dir = std::filesystem::temp_directory_path().string();
  std::string spool_dir = "/dev/shm";
  int rounds = 3;
  double seconds = 10;
  bool json = false;
};

}  // namespace telemetry::bench
