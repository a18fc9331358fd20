#include "worker/tune/process/frame.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::worker::tune::process {
namespace {

// A buffer for the descriptors of one frame, with the alignment that the system requires.
struct alignas(cmsghdr) FdSpace {
  std::array<char, CMSG_SPACE(kMaxFrameFds * sizeof(int))> bytes = {};
};

absl::Status SocketError(const char* operation) {
  if (errno == EPIPE || errno == ECONNRESET) return absl::UnavailableError("the other side has closed the connection");
  return absl::InternalError(absl::StrCat(operation, " failed: ", std::strerror(errno)));
}

void AttachFds(const std::vector<int>& fds, FdSpace* space, msghdr* message) {
  message->msg_control = space->bytes.data();
  message->msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
}

void TakeFds(msghdr* message, std::vector<OwnedFd>* fds) {
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      fds->emplace_back(fd);
    }
  }
}

}  // namespace

absl::StatusOr<FrameWriter> FrameWriter::Create(const google::protobuf::MessageLite& message, absl::Span<const int> fds,
                                                size_t limit_bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > limit_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(message.GetTypeName(), " has ", size, " bytes; the limit is ",
                                                   limit_bytes, " bytes: pass large payloads as SharedBytes"));
  }
  if (fds.size() > kMaxFrameFds) {
    return absl::InvalidArgumentError(
        absl::StrCat(fds.size(), " descriptors are too many for a message; the limit is ", kMaxFrameFds));
  }
  const FrameHeader header = {
      .magic = kFrameMagic, .length = static_cast<uint32_t>(size), .fd_count = static_cast<uint32_t>(fds.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  message.AppendToString(&bytes);
  return FrameWriter(std::move(bytes), fds);
}

absl::StatusOr<bool> FrameWriter::Write(int socket) {
  while (written_ < bytes_.size()) {
    iovec rest = {.iov_base = bytes_.data() + written_, .iov_len = bytes_.size() - written_};
    msghdr message = {};
    message.msg_iov = &rest;
    message.msg_iovlen = 1;
    FdSpace space;
    if (written_ == 0 && !fds_.empty()) AttachFds(fds_, &space, &message);
    const ssize_t size = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return false;
    if (size < 0) return SocketError("sendmsg");
    written_ += static_cast<size_t>(size);
  }
  return true;
}

absl::StatusOr<size_t> FrameReader::ReadSome(int socket, char* to, size_t size) {
  while (true) {
    iovec rest = {.iov_base = to, .iov_len = size};
    FdSpace space;
    msghdr message = {};
    message.msg_iov = &rest;
    message.msg_iovlen = 1;
    message.msg_control = space.bytes.data();
    message.msg_controllen = space.bytes.size();
    const ssize_t received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return 0;
    if (received < 0) return SocketError("recvmsg");
    if (received == 0) return absl::UnavailableError("the other side has closed the connection");
    TakeFds(&message, &frame_.fds);
    return static_cast<size_t>(received);
  }
}

absl::Status FrameReader::CheckHeader() {
  if (header_.magic != kFrameMagic) return absl::DataLossError("received bytes that are not a message");
  if (header_.length > limit_bytes_) {
    return absl::DataLossError(
        absl::StrCat("received a message of ", header_.length, " bytes; the limit is ", limit_bytes_));
  }
  frame_.payload.resize(header_.length);
  return absl::OkStatus();
}

absl::StatusOr<bool> FrameReader::Read(int socket) {
  while (read_ < sizeof(header_)) {
    ASSIGN_OR_RETURN(const size_t size,
                     ReadSome(socket, reinterpret_cast<char*>(&header_) + read_, sizeof(header_) - read_));
    if (size == 0) return false;
    read_ += size;
    if (read_ < sizeof(header_)) continue;
    RETURN_IF_ERROR(CheckHeader());
  }
  while (read_ < sizeof(header_) + header_.length) {
    const size_t done = read_ - sizeof(header_);
    ASSIGN_OR_RETURN(const size_t size, ReadSome(socket, frame_.payload.data() + done, header_.length - done));
    if (size == 0) return false;
    read_ += size;
  }
  if (frame_.fds.size() == header_.fd_count) return true;
  return absl::DataLossError("descriptors of a message were lost: raise the limit of open files (ulimit -n)");
}

Frame FrameReader::Take() {
  read_ = 0;
  return std::exchange(frame_, Frame());
}

absl::Status ParseFrame(const Frame& frame, google::protobuf::MessageLite* message) {
  if (message->ParseFromString(frame.payload)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("received bytes that are not a ", message->GetTypeName()));
}

}  // namespace telemetry::worker::tune::process
