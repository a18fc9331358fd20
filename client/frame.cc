#include "client/frame.h"

#include "client/little_endian.h"
#include "proto/record/ids.h"
#include "proto/record/record_limit.h"

namespace telemetry::client {
namespace {

constexpr std::string_view kSegmentMagic = "TLMSPOOL";
constexpr size_t kCrcBytes = 4;

uint32_t FrameCrc(uint32_t salt, std::string_view frame) { return record::Crc32c(salt, frame.substr(kCrcBytes)); }

}  // namespace

std::string EncodeSegmentHeader(const SegmentHeader& header) {
  std::string bytes(kSegmentHeaderBytes, '\0');
  kSegmentMagic.copy(bytes.data(), kSegmentMagic.size());
  StoreLittleEndian<uint32_t>(header.version, &bytes[8]);
  StoreLittleEndian<uint32_t>(header.salt, &bytes[12]);
  StoreLittleEndian<uint64_t>(header.first_seq, &bytes[16]);
  StoreLittleEndian<uint32_t>(record::Crc32c(0, std::string_view(bytes).substr(0, 28)), &bytes[28]);
  return bytes;
}

std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view bytes) {
  if (bytes.size() < kSegmentHeaderBytes || bytes.substr(0, kSegmentMagic.size()) != kSegmentMagic) return std::nullopt;
  if (LoadLittleEndian<uint32_t>(&bytes[28]) != record::Crc32c(0, bytes.substr(0, 28))) return std::nullopt;
  return SegmentHeader{.version = LoadLittleEndian<uint32_t>(&bytes[8]),
                       .salt = LoadLittleEndian<uint32_t>(&bytes[12]),
                       .first_seq = LoadLittleEndian<uint64_t>(&bytes[16])};
}

char* AddFrame(size_t length, std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + kFrameHeaderBytes + length);
  StoreLittleEndian<uint32_t>(static_cast<uint32_t>(length), &(*out)[begin + 4]);
  return out->data() + begin + kFrameHeaderBytes;
}

size_t SealFrame(uint32_t salt, uint64_t seq, char* frame) {
  const size_t size = kFrameHeaderBytes + LoadLittleEndian<uint32_t>(frame + 4);
  StoreLittleEndian<uint64_t>(seq, frame + 8);
  StoreLittleEndian<uint32_t>(FrameCrc(salt, {frame, size}), frame);
  return size;
}

std::optional<Frame> DecodeFrame(uint32_t salt, std::string_view bytes) {
  const size_t size = ClaimedFrameSize(bytes);
  if (size == 0 || size > bytes.size() || size - kFrameHeaderBytes > record::kMaxRecordBytes) return std::nullopt;
  const std::string_view frame = bytes.substr(0, size);
  if (LoadLittleEndian<uint32_t>(frame.data()) != FrameCrc(salt, frame)) return std::nullopt;
  return Frame{.seq = LoadLittleEndian<uint64_t>(&frame[8]), .payload = frame.substr(kFrameHeaderBytes)};
}

size_t ClaimedFrameSize(std::string_view bytes) {
  return bytes.size() < kFrameHeaderBytes ? 0 : kFrameHeaderBytes + LoadLittleEndian<uint32_t>(&bytes[4]);
}

size_t FindFrame(uint32_t salt, uint64_t min_seq, uint64_t max_seq, std::string_view bytes) {
  for (size_t at = 0; at + kFrameHeaderBytes <= bytes.size(); ++at) {
    // Compare the sequence number first: it rules out nearly every offset without a checksum.
    const uint64_t seq = LoadLittleEndian<uint64_t>(&bytes[at + 8]);
    if (seq < min_seq || seq > max_seq) continue;
    if (DecodeFrame(salt, bytes.substr(at)).has_value()) return at;
  }
  return std::string_view::npos;
}

}  // namespace telemetry::client
