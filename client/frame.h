#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telemetry::client {

// The encoding of segment files (SPOOL_FORMAT.md). All functions are pure and safe to call from any thread.
//
//   segment: header, frame, frame, ...
//   header:  magic[8] version:u32 salt:u32 first_seq:u64 zero:u32 crc:u32
//   frame:   crc:u32 length:u32 seq:u64 payload[length]
//
// The header's crc covers the bytes before it. The frame's crc covers the bytes after it and is seeded with the salt.

inline constexpr size_t kSegmentHeaderBytes = 32;
inline constexpr size_t kFrameHeaderBytes = 16;
inline constexpr uint32_t kSegmentVersion = 1;

// The parsed header of a segment file.
struct SegmentHeader {
  uint32_t version = kSegmentVersion;
  // Random for each segment. The salt prevents a reader from accepting a copy of another segment's frames inside a
  // payload as frames.
  uint32_t salt = 0;
  uint64_t first_seq = 0;
};

std::string EncodeSegmentHeader(const SegmentHeader& header);
// Returns nullopt if `bytes` is too short or damaged.
std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view bytes);

// Appends an empty frame header and room for `length` payload bytes to `out`. Returns a pointer to the payload.
char* AddFrame(size_t length, std::string* out);
// Fills in the header of the frame at `frame`, which AddFrame() made. Returns the size of the frame, header included.
size_t SealFrame(uint32_t salt, uint64_t seq, char* frame);

// A parsed frame. `payload` points into the parsed bytes.
struct Frame {
  uint64_t seq = 0;
  std::string_view payload;
  // Returns the size of header and payload.
  size_t size() const { return kFrameHeaderBytes + payload.size(); }
};

// Returns the frame at the start of `bytes`, or nullopt if the frame there is incomplete or damaged.
std::optional<Frame> DecodeFrame(uint32_t salt, std::string_view bytes);

// Returns the frame size that the header at the start of `bytes` claims, or 0 if the header is incomplete.
size_t ClaimedFrameSize(std::string_view bytes);

// Returns the offset in `bytes` of the first undamaged frame with min_seq <= seq <= max_seq, or npos if there is none.
size_t FindFrame(uint32_t salt, uint64_t min_seq, uint64_t max_seq, std::string_view bytes);

}  // namespace telemetry::client
