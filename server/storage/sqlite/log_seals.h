#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace telemetry::storage::sqlite {

// The file DATABASE.seals: the seals (page_checksum.h) of the pages in the write-ahead log, in the order of its frames.
//
//   page number:u32  crc:u32       as in a page's trailer, but in the byte order of the machine
//
// SQLite writes pages to the log with their previous trailers; a checkpoint by this program seals them. If another
// program recovers the log of a killed collector and moves its pages into the database, this file proves that they are
// the collector's pages, bit for bit. A seal is written before its frame and is not fsynced: a crash of the process
// loses no seal, and after a power cut a page without a seal counts as foreign. Not thread-safe.
class LogSeals {
 public:
  explicit LogSeals(const std::string& database) : path_(SealsPath(database)) {}
  LogSeals(const LogSeals&) = delete;
  LogSeals& operator=(const LogSeals&) = delete;
  ~LogSeals();

  static std::string SealsPath(const std::string& database) { return database + ".seals"; }

  // Seals by page number. Empty if the file cannot be read.
  using Pages = absl::flat_hash_map<uint32_t, std::vector<uint32_t>>;
  static Pages Read(const std::string& database);

  // Adds the seal of a frame (counted from 0) to those that Write() stores.
  void Add(uint32_t frame, uint32_t number, uint32_t seal);
  // Creates the file if it does not exist. An error is ignored: it only loses the proof.
  void Write();
  // Must be called when SQLite restarts the log from its beginning.
  void Clear();

 private:
  struct Entry {
    uint32_t number;
    uint32_t seal;
  };

  const std::string path_;
  std::vector<Entry> added_;  // of consecutive frames
  uint32_t first_added_ = 0;  // the frame of the first
  int fd_ = -1;
};

}  // namespace telemetry::storage::sqlite
