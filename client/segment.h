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

// Walks over the frames in a stretch of a segment, in order. Damaged places are skipped: the walk goes on at the next
// frame that is whole and has a higher number. Not thread-safe.
class FrameScanner {
 public:
  // `bytes` begins where a frame should begin, and its number should be `expected_seq`.
  FrameScanner(uint32_t salt, uint64_t expected_seq, std::string_view bytes)
      : salt_(salt), expected_seq_(expected_seq), bytes_(bytes) {}

  // The next frame; empty: there is no further one.
  std::optional<Frame> Next();

  // Where the frame that Next gave begins, and where the following one should.
  size_t frame_begin() const { return begin_; }
  size_t frame_end() const { return end_; }
  // Damage was skipped before the frame that Next gave last.
  bool skipped() const { return skipped_; }

 private:
  const uint32_t salt_;
  uint64_t expected_seq_;
  std::string_view bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool skipped_ = false;
};

// A segment file as it stands at one moment. Bytes below `end` never change, so any thread may read them while the
// spool appends; the file lives as long as somebody holds it, even when it has been removed.
struct Segment {
  std::string path = {};
  std::shared_ptr<File> file = nullptr;
  uint32_t salt = 0;
  uint64_t first_seq = 0;
  uint64_t last_seq = 0;        // first_seq - 1: no records
  uint64_t begin_position = 0;  // the log position of the file's first byte
  uint64_t end = 0;             // file offset behind the last record

  uint64_t end_position() const { return begin_position + end; }
  absl::StatusOr<std::string> Read(uint64_t from, uint64_t to) const;
  // The file offset of the first whole frame with a number of at least `seq`; empty: there is none.
  absl::StatusOr<std::optional<uint64_t>> Locate(uint64_t seq) const;
};

// "00000000000000000001-5f3a9c01.seg": the first number and the salt, so that a damaged header costs nothing.
std::string SegmentName(const SegmentHeader& header);
std::optional<SegmentHeader> ParseSegmentName(std::string_view name);

// What was found in a segment file of an earlier process.
struct SegmentScan {
  Segment segment;
  bool header_damaged = false;
  uint64_t lost_records = 0;  // numbers that are missing before the last whole record
  uint64_t tail_bytes = 0;    // bytes behind the last whole record
};

// FAILED_PRECONDITION: written by a newer version. Else as in file.h.
absl::StatusOr<SegmentScan> ScanSegment(const std::string& folder, const std::string& name);

// Makes a new segment. On an error no file is left behind.
absl::StatusOr<Segment> CreateSegment(const std::string& folder, const SegmentHeader& header);

}  // namespace telemetry::client
