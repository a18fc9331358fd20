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

namespace telemetry::worker::tune::process {

// Messages on a stream socket between two processes of one machine:
//
//   frame: magic:u32 length:u32 fd_count:u32 payload[length]        in this machine's byte order
//
// The payload is a protobuf message whose type the sender and the receiver know. Descriptors are sent as ancillary data
// of the frame's first bytes. The classes here never block: each call does the work that the socket allows now, and the
// next call continues.

inline constexpr size_t kDefaultMessageLimitBytes = size_t{64} << 20;
inline constexpr size_t kMaxFrameFds = 32;
inline constexpr uint32_t kFrameMagic = 0x454e5554;

// The header of a frame.
struct FrameHeader {
  uint32_t magic = 0;
  uint32_t length = 0;
  uint32_t fd_count = 0;
};

// A received frame with its descriptors.
struct Frame {
  std::string payload;
  std::vector<OwnedFd> fds;
};

// A frame that is being sent.
class FrameWriter {
 public:
  // INVALID_ARGUMENT: the message is over the limit, or there are too many descriptors. `fds` must stay open until the
  // frame is written.
  static absl::StatusOr<FrameWriter> Create(const google::protobuf::MessageLite& message, absl::Span<const int> fds,
                                            size_t limit_bytes);

  // Writes the bytes that the socket accepts now. Returns true when all are written. UNAVAILABLE: the other side has
  // closed the connection.
  absl::StatusOr<bool> Write(int socket);

 private:
  FrameWriter(std::string bytes, absl::Span<const int> fds) : bytes_(std::move(bytes)), fds_(fds.begin(), fds.end()) {}

  std::string bytes_;
  std::vector<int> fds_;
  size_t written_ = 0;
};

// Receives frames, one after the other.
class FrameReader {
 public:
  explicit FrameReader(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Reads the bytes that are available now, but not beyond the frame. Returns true when the frame is complete.
  // UNAVAILABLE: the other side has closed the connection. DATA_LOSS: the bytes are not a frame, or the frame is over
  // the limit; nothing after it can be read.
  absl::StatusOr<bool> Read(int socket);
  // Returns the frame. Call after Read() returned true.
  Frame Take();

 private:
  absl::StatusOr<size_t> ReadSome(int socket, char* to, size_t size);
  absl::Status CheckHeader();

  const size_t limit_bytes_;
  FrameHeader header_;
  size_t read_ = 0;  // bytes of the frame, including the header
  Frame frame_;
};

// DATA_LOSS: the payload is not a message of this type.
absl::Status ParseFrame(const Frame& frame, google::protobuf::MessageLite* message);

}  // namespace telemetry::worker::tune::process
