#include "tests/http2/frames.h"

#include <cstddef>

namespace telemetry::http2 {
namespace {

void AppendText(const std::string& text, std::string* bytes) {
  constexpr size_t kPrefix = 127;
  if (text.size() < kPrefix) {
    *bytes += static_cast<char>(text.size());
  } else {
    *bytes += static_cast<char>(kPrefix);
    size_t rest = text.size() - kPrefix;
    for (; rest >= 128; rest >>= 7) *bytes += static_cast<char>(0x80 | (rest & 0x7F));
    *bytes += static_cast<char>(rest);
  }
  *bytes += text;
}

}  // namespace

std::string Hpack(const Headers& headers) {
  std::string bytes;
  for (const auto& [name, value] : headers) {
    bytes += '\0';
    AppendText(name, &bytes);
    AppendText(value, &bytes);
  }
  return bytes;
}

Headers CallHeaders(const std::string& method) {
  return {{":method", "POST"},         {":scheme", "http"}, {":path", method},
          {":authority", "127.0.0.1"}, {"te", "trailers"},  {"content-type", "application/grpc"}};
}

std::string BigEndian32(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string BigEndian16(uint16_t value) { return BigEndian32(value).substr(2); }

std::string GrpcMessageHead(uint32_t announced, bool compressed) {
  return std::string(1, compressed ? '\1' : '\0') + BigEndian32(announced);
}

std::string GrpcMessage(std::string_view message, bool compressed) {
  return GrpcMessageHead(static_cast<uint32_t>(message.size()), compressed).append(message);
}

void AppendFrame(const Frame& frame, std::string* bytes) {
  const auto length = static_cast<uint32_t>(frame.claimed_length < 0 ? frame.payload.size()
                                                                     : static_cast<size_t>(frame.claimed_length));
  *bytes += BigEndian32(length).substr(1);
  *bytes += static_cast<char>(frame.type);
  *bytes += static_cast<char>(frame.flags);
  *bytes += BigEndian32(frame.stream);
  *bytes += frame.payload;
}

std::string FrameBytes(const Frame& frame) {
  std::string bytes;
  AppendFrame(frame, &bytes);
  return bytes;
}

}  // namespace telemetry::http2
