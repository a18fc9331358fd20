#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telemetry::client {

// The bytes of the spool's segment files (SPOOL_FORMAT.md). Pure functions without state; safe from any thread.
//
//   segment: header, frame, frame, ...
//   header:  magic[8] version:u32 salt:u32 first_seq:u64 zero:u32 crc:u32      crc over what stands before it
//   frame:   crc:u32 length:u32 seq:u64 payload[length]                        crc over what follows it, seeded with
//   salt

inline constexpr size_t kSegmentHeaderBytes = 32;
inline constexpr size_t kFrameHeaderBytes = 16;
inline constexpr uint32_t kSegmentVersion = 1;

struct SegmentHeader {
  uint32_t version = kSegmentVersion;
  // Random per segment. A copy of another segment's frames inside a payload is therefore never taken for a frame.
  uint32_t salt = 0;
  uint64_t first_seq = 0;
};

std::string EncodeSegmentHeader(const SegmentHeader& header);
// Empty: too short, or damaged.
std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view bytes);

// Puts an empty frame header and room for `length` payload bytes at the end of `out`; returns where the payload goes.
char* AddFrame(size_t length, std::string* out);
// Fills in the header of the frame that begins at `frame` (made by AddFrame); returns the frame's whole size.
size_t SealFrame(uint32_t salt, uint64_t seq, char* frame);

struct Frame {
  uint64_t seq = 0;
  std::string_view payload;
  // Header and payload.
  size_t size() const { return kFrameHeaderBytes + payload.size(); }
};

// The frame at the start of `bytes`. Empty: there is no whole, undamaged one.
std::optional<Frame> DecodeFrame(uint32_t salt, std::string_view bytes);

// The whole size that the frame at the start of `bytes` claims to have; 0 where not even its header is there.
size_t ClaimedFrameSize(std::string_view bytes);

// Where in `bytes` the first undamaged frame with min_seq <= seq <= max_seq begins; npos: nowhere.
size_t FindFrame(uint32_t salt, uint64_t min_seq, uint64_t max_seq, std::string_view bytes);

}  // namespace telemetry::client
