#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/storage/sqlite/log_seals.h"

struct sqlite3_file;

namespace telemetry::storage::sqlite {

// Writes a write-ahead log in long pieces, and the seals of its pages (LogSeals) before them. SQLite appends each frame
// with two writes, its header and its page, and a transaction has dozens of frames.
//
// The frames of a transaction are collected until its last frame, which the header marks, or until another frame would
// make them longer than kMostBytes. A reader finds a frame only after its transaction, so it never looks for one that
// is missing in the file. All results are SQLite's result codes. Not thread-safe.
class LogWriter {
 public:
  // `log` is the file of the log in the base VFS; it must outlive this object. `database` is the path of the database.
  LogWriter(sqlite3_file* log, const std::string& database) : log_(*log), seals_(database) {}

  // Writes `size` bytes at `offset`, or keeps them until later.
  int Write(const char* from, int size, int64_t offset);
  // Writes the frames that were kept. Must be called before each other operation on the file. After an error the frames
  // are dropped: their transaction has failed, and SQLite writes the frames of the next one to the same place.
  int Flush();
  int Truncate(int64_t bytes);

 private:
  // SQLite's own VFS writes at most this at a time.
  static constexpr size_t kMostBytes = (size_t{128} << 10) - 1;

  // Returns true if these bytes are the page that belongs to the header at the end of kept_.
  bool IsPageOfHeader(int size, int64_t offset) const;
  int KeepHeader(const char* from, int64_t offset);
  int KeepPage(const char* from, int size);
  int WriteNow(const char* from, int size, int64_t offset);
  // Adds the seal of the page in the frame at `frame_at` to seals_.
  void Seal(const char* header, const char* page, int page_bytes, int64_t frame_at);

  sqlite3_file& log_;
  LogSeals seals_;
  std::vector<char> kept_;  // complete frames, and maybe the header of one more
  int64_t kept_at_ = 0;     // the offset of kept_ in the file
  bool ends_with_header_ = false;
  int64_t end_ = 0;  // the end of the last frame that was written or kept
};

}  // namespace telemetry::storage::sqlite
