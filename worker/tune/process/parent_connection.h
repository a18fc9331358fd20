#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/process/frame.h"

namespace telemetry::worker::tune::process {

// The descriptor of a child's socket. The child's other descriptors are 0 (/dev/null) and 1 and 2 (a pipe to the
// parent).
inline constexpr int kMessageFd = 3;

// The child's end of ChildProcess. After Open, the process and its process group are killed as soon as the parent
// closes the connection or dies, whatever they are doing. They write no core files, and the kernel kills them first
// when memory runs out. Only one thread may use it at a time.
class ParentConnection {
 public:
  // Call once per process, before it starts threads. FAILED_PRECONDITION: the process was not started by ChildProcess.
  static absl::StatusOr<std::unique_ptr<ParentConnection>> Open(size_t message_limit_bytes = kDefaultMessageLimitBytes);

  // Waits for the parent's next message. UNAVAILABLE: the parent has closed the connection. DATA_LOSS: see
  // ChildProcess::Receive.
  absl::Status Receive(google::protobuf::MessageLite* message, std::vector<OwnedFd>* fds = nullptr);
  // Sends a message like ChildProcess::Send, but without a timeout.
  absl::Status Send(const google::protobuf::MessageLite& message, absl::Span<const int> fds = {});

 private:
  explicit ParentConnection(size_t message_limit_bytes)
      : message_limit_bytes_(message_limit_bytes), reader_(message_limit_bytes) {}

  const size_t message_limit_bytes_;
  FrameReader reader_;
};

// The decision of a request handler: continue to serve, or end after the reply.
enum class Serving { kGoOn, kEnd };

// Answers each request with one reply, until the parent closes the connection (OK) or `handle` returns kEnd. `handle`
// has the signature Serving(const Request&, std::vector<OwnedFd> fds, Reply*). Returns the connection's errors.
template <typename Request, typename Reply, typename Handle>
absl::Status ServeFrames(ParentConnection& parent, Handle&& handle) {
  while (true) {
    Request request;
    std::vector<OwnedFd> fds;
    absl::Status status = parent.Receive(&request, &fds);
    if (absl::IsUnavailable(status)) return absl::OkStatus();
    if (!status.ok()) return status;
    Reply reply;
    const Serving serving = handle(request, std::move(fds), &reply);
    if (status = parent.Send(reply); !status.ok() || serving == Serving::kEnd) return status;
  }
}

}  // namespace telemetry::worker::tune::process
