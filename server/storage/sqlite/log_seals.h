#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace telemetry::storage {

// The file DATABASE.seals: the seals (page_checksum.h) of the pages in the write-ahead log, in the order of its frames.
//
//   page number:u32  crc:u32       as in a page's trailer, but in the byte order of the machine
//
// SQLite writes pages to the log with the trailers of before; a checkpoint by this program seals them. When another
// program recovers the log of a killed collector and moves its pages into the database, this file proves that they are
// the collector's, bit for bit. A seal is written before its frame and not forced to the disk: a process that dies
// takes nothing back, and after a power cut a page without a seal counts as another program's. For one thread.
class LogSeals {
 public:
  explicit LogSeals(const std::string& database) : path_(PathOf(database)) {}
  LogSeals(const LogSeals&) = delete;
  LogSeals& operator=(const LogSeals&) = delete;
  ~LogSeals();

  static std::string PathOf(const std::string& database) { return database + ".seals"; }

  // Seals by page number; empty where the file cannot be read.
  using Pages = absl::flat_hash_map<uint32_t, std::vector<uint32_t>>;
  static Pages Read(const std::string& database);

  // Makes the file where it is not there. `frame` counts from 0. An error only costs the proof.
  void Store(uint32_t frame, uint32_t number, uint32_t seal);
  // The log begins anew.
  void Clear();

 private:
  const std::string path_;
  int fd_ = -1;
};

}  // namespace telemetry::storage
