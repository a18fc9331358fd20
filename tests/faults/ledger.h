#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/file.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::faults {

// A file of the acknowledgements that a producer process received. A line survives kill -9 of the process from the
// moment of its write. Thread-safe: every entry is one write.
class Ledger {
 public:
  struct Promises {
    uint64_t accepted = 0;  // the last record for which Append returned
    uint64_t acked = 0;     // the last record that the collector acknowledged
  };

  // Opens the file for appending, and creates it if it does not exist. Ends the program if that fails.
  explicit Ledger(const std::string& path);
  void Accepted(uint64_t seq) { Write('A', seq); }
  void Acked(uint64_t seq) { Write('C', seq); }

  // Notes the time from Append to the acknowledgement.
  void Took(uint64_t microseconds) { Write('T', microseconds); }

  static Promises Read(const std::string& path);
  // Returns the noted times in microseconds, oldest first.
  static std::vector<uint64_t> ReadTimes(const std::string& path);

 private:
  void Write(char kind, uint64_t value);

  client::File file_;
};

// Returns record `seq` (from 1) of producer `number`: a run, an attempt, a config, then rows. All records differ.
v1::Record MakeRecord(int number, uint64_t seq);
inline constexpr uint64_t kRecordsBeforeRows = 3;

}  // namespace telemetry::faults
