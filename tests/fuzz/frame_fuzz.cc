// Fuzzes spool frames: a scan of any bytes terminates, stays within them and returns frames that are encoded to the
// same bytes again. A log with a damaged section yields only records that were in it, in their order.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/frame.h"
#include "client/frame_buffer.h"
#include "client/segment.h"
#include "client/spool_meta.h"
#include "tests/fuzz/fuzz.h"

namespace telemetry::client {
namespace {

using fuzz::Require;

constexpr uint32_t kSalt = 7;

std::string Sealed(const Frame& frame, uint32_t salt) {
  FrameBuffer buffer;
  buffer.AddSerialised(frame.payload);
  buffer.Seal(salt, frame.seq);
  return std::string(buffer.bytes());
}

void WalkAnything(std::string_view bytes) {
  uint32_t salt = kSalt;
  uint64_t seq = 1;
  if (const std::optional<SegmentHeader> header = DecodeSegmentHeader(bytes); header.has_value()) {
    salt = header->salt;
    seq = header->first_seq;
    bytes.remove_prefix(kSegmentHeaderBytes);
  }
  FrameScanner frames(salt, seq, bytes);
  while (const std::optional<Frame> frame = frames.Next()) {
    Require(frame->seq >= seq, "numbers grow");
    Require(frames.frame_end() <= bytes.size(), "frames lie inside");
    const size_t size = frames.frame_end() - frames.frame_begin();
    Require(bytes.substr(frames.frame_begin(), size) == Sealed(*frame, salt), "a frame is sealed the same again");
    seq = frame->seq + 1;
  }
}

// Damages a log and reads it. The first bytes of the input select the position and the kind of damage; the rest are the
// records, one per line.
void DamageALog(std::string_view bytes) {
  if (bytes.size() < 4) return;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::vector<std::string> records(1);
  for (const char c : bytes.substr(4)) {
    if (c == '\n') records.emplace_back();
    if (c != '\n') records.back().push_back(c);
  }
  // A CRC protects against accidental damage, not against forgery, and a fuzzer that observes both sides of the
  // comparison can forge it. A salt that changes with every byte of the input prevents that.
  const auto salt = static_cast<uint32_t>(std::hash<std::string_view>{}(bytes));
  FrameBuffer log;
  for (const std::string& record : records) log.AddSerialised(record);
  log.Seal(salt, 1);
  std::string damaged(log.bytes());
  const size_t begin = (byte(0) << 8 | byte(1)) % damaged.size();
  const size_t end = std::min<size_t>(damaged.size(), begin + 1 + byte(2) % 64);
  for (size_t i = begin; i < end; ++i) damaged[i] = static_cast<char>(damaged[i] ^ byte(3));

  FrameScanner frames(salt, 1, damaged);
  uint64_t last_seq = 0;
  while (const std::optional<Frame> frame = frames.Next()) {
    Require(frame->seq > last_seq && frame->seq <= records.size(), "a number of this log, above the last");
    Require(frame->payload == records[frame->seq - 1], "the record that has this number");
    last_seq = frame->seq;
  }
}

void ReadMeta(std::string_view bytes) {
  const absl::StatusOr<MetaSlot> slot = DecodeMetaSlot(bytes);
  if (!slot.ok()) return;
  const absl::StatusOr<MetaSlot> again = DecodeMetaSlot(EncodeMetaSlot(*slot));
  Require(again.ok() && *again == *slot, "the spool's meta comes back");
}

}  // namespace
}  // namespace telemetry::client

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  telemetry::client::WalkAnything(bytes);
  telemetry::client::DamageALog(bytes);
  telemetry::client::ReadMeta(bytes);
  return 0;
}
