#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/file.h"
#include "client/frame.h"

namespace telemetry::client {

// An iterator over the frames in a part of a segment. It skips damaged bytes and continues at the next intact frame
// with a higher number. Not thread-safe.
class FrameScanner {
 public:
  // Scans `bytes`, which must begin at a frame boundary. The first frame should have the number `expected_seq`.
  FrameScanner(uint32_t salt, uint64_t expected_seq, std::string_view bytes)
      : salt_(salt), expected_seq_(expected_seq), bytes_(bytes) {}

  // Returns the next frame, or nullopt at the end.
  std::optional<Frame> Next();

  // Offsets of the begin and the end of the frame that Next() returned last.
  size_t frame_begin() const { return begin_; }
  size_t frame_end() const { return end_; }
  // Returns true if damaged bytes precede the frame that Next() returned last.
  bool skipped() const { return skipped_; }

 private:
  const uint32_t salt_;
  uint64_t expected_seq_;
  std::string_view bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool skipped_ = false;
};

// The state of a segment file at one moment. Bytes below `end` never change, so any thread may read them while the
// spool appends. The open file stays readable while an object refers to it, even after it has been removed from the
// folder.
struct Segment {
  std::string path = {};
  std::shared_ptr<File> file = nullptr;
  uint32_t salt = 0;
  uint64_t first_seq = 0;
  uint64_t last_seq = 0;        // first_seq - 1: no records
  uint64_t begin_position = 0;  // the log position of the file's first byte
  uint64_t end = 0;             // file offset after the last record

  uint64_t end_position() const { return begin_position + end; }
  absl::StatusOr<std::string> Read(uint64_t from, uint64_t to) const;
  // Returns the file offset of the first intact frame with a number of at least `seq`, or nullopt if there is none.
  absl::StatusOr<std::optional<uint64_t>> Locate(uint64_t seq) const;
};

// Returns a name such as "00000000000000000001-5f3a9c01.seg". The name repeats the first number and the salt, so that a
// damaged header costs no record.
std::string SegmentName(const SegmentHeader& header);
std::optional<SegmentHeader> ParseSegmentName(std::string_view name);

// The result of scanning a segment file of an earlier process.
struct SegmentScan {
  Segment segment;
  bool header_damaged = false;
  uint64_t lost_records = 0;  // count of the missing numbers before the last intact record
  uint64_t tail_bytes = 0;    // bytes after the last intact record
};

// Opens and scans a segment file. Errors: FAILED_PRECONDITION if a newer version wrote the file, DATA_LOSS if it is not
// a segment, else as in file.h.
absl::StatusOr<SegmentScan> ScanSegment(const std::string& folder, const std::string& name);

// Creates a segment file. After an error no file is left behind.
absl::StatusOr<Segment> CreateSegment(const std::string& folder, const SegmentHeader& header);

}  // namespace telemetry::client
