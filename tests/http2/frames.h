#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telemetry::http2 {

// HTTP/2 frames (RFC 9113), to the extent needed to send valid and invalid requests to a gRPC server.
enum FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};
inline constexpr uint8_t kAck = 0x1;  // of kSettings and kPing
inline constexpr uint8_t kEndStream = 0x1;
inline constexpr uint8_t kEndHeaders = 0x4;

// An HTTP/2 frame.
struct Frame {
  uint8_t type = kData;
  uint8_t flags = 0;
  uint32_t stream = 0;
  std::string payload = {};
  // The length in the frame's header. -1: that of the payload.
  int64_t claimed_length = -1;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Encodes the headers as literal fields without indexing and Huffman coding. Each string must be shorter than 16 KiB.
std::string Hpack(const Headers& headers);

// Returns the headers of a gRPC call to "/package.Service/Method".
Headers CallHeaders(const std::string& method);

// Returns a message in the format of DATA: a head of five bytes, then the message.
std::string GrpcMessage(std::string_view message, bool compressed = false);
// Returns the head of a message of `announced` bytes.
std::string GrpcMessageHead(uint32_t announced, bool compressed = false);

std::string BigEndian16(uint16_t value);
std::string BigEndian32(uint32_t value);

void AppendFrame(const Frame& frame, std::string* bytes);
std::string FrameBytes(const Frame& frame);

}  // namespace telemetry::http2
