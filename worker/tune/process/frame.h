#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "google/protobuf/message_lite.h"
#include "worker/tune/process/owned_fd.h"

namespace telemetry::worker::tune {

// Messages on a stream socket between two processes of one machine:
//
//   frame: magic:u32 length:u32 fd_count:u32 payload[length]        in this machine's byte order
//
// The payload is a protobuf message that sender and receiver know. Descriptors travel as ancillary data of the frame's
// first bytes. The classes here never wait: they do what a socket lets them do now, and go on later.

inline constexpr size_t kDefaultMessageLimitBytes = size_t{64} << 20;
inline constexpr size_t kMaxFrameFds = 32;
inline constexpr uint32_t kFrameMagic = 0x454e5554;

struct FrameHeader {
  uint32_t magic = 0;
  uint32_t length = 0;
  uint32_t fd_count = 0;
};

struct Frame {
  std::string payload;
  std::vector<OwnedFd> fds;
};

// A frame on its way out.
class FrameWriter {
 public:
  // INVALID_ARGUMENT: over the limit, or too many descriptors. `fds` must stay open until the frame is written.
  static absl::StatusOr<FrameWriter> Create(const google::protobuf::MessageLite& message, absl::Span<const int> fds,
                                            size_t limit_bytes);

  // Writes what the socket takes now; true when all is written. UNAVAILABLE: the other side is gone.
  absl::StatusOr<bool> Write(int socket);

 private:
  FrameWriter(std::string bytes, absl::Span<const int> fds) : bytes_(std::move(bytes)), fds_(fds.begin(), fds.end()) {}

  std::string bytes_;
  std::vector<int> fds_;
  size_t written_ = 0;
};

// Frames on their way in, one after the other.
class FrameReader {
 public:
  explicit FrameReader(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Reads what is there now, never beyond the frame; true when a whole one can be taken. UNAVAILABLE: the other side is
  // gone. DATA_LOSS: what came is no frame, or one over the limit; nothing behind it can be read.
  absl::StatusOr<bool> Read(int socket);
  // After Read returned true.
  Frame Take();

 private:
  absl::StatusOr<size_t> ReadSome(int socket, char* to, size_t size);
  absl::Status CheckHeader();

  const size_t limit_bytes_;
  FrameHeader header_;
  size_t read_ = 0;  // bytes of the frame, header included
  Frame frame_;
};

// DATA_LOSS: the payload is not such a message.
absl::Status ParseFrame(const Frame& frame, google::protobuf::MessageLite* message);

}  // namespace telemetry::worker::tune
