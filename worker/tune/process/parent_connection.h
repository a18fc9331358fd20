#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/tune/process/frame.h"

namespace telemetry::worker::tune {

// The descriptor that a child begins with besides 0 (/dev/null), 1 and 2 (kept by the parent).
inline constexpr int kMessageFd = 3;

// The child's end of ChildProcess. From Open on, the process and its process group are killed as soon as the parent is
// gone, whatever they are doing; they leave no core files, and are the first to go when memory runs out. One thread at
// a time.
class ParentConnection {
 public:
  // Once in a process, before it starts threads. FAILED_PRECONDITION: the process was not started by ChildProcess.
  static absl::StatusOr<std::unique_ptr<ParentConnection>> Open(size_t message_limit_bytes = kDefaultMessageLimitBytes);

  // Waits for the parent's next message. UNAVAILABLE: the parent is gone. DATA_LOSS: as ChildProcess::Receive.
  absl::Status Receive(google::protobuf::MessageLite* message, std::vector<OwnedFd>* fds = nullptr);
  // As ChildProcess::Send, but waits for as long as it takes.
  absl::Status Send(const google::protobuf::MessageLite& message, absl::Span<const int> fds = {});

 private:
  explicit ParentConnection(size_t message_limit_bytes)
      : message_limit_bytes_(message_limit_bytes), reader_(message_limit_bytes) {}

  const size_t message_limit_bytes_;
  FrameReader reader_;
};

enum class Serving { kGoOn, kEnd };

// Answers each request with one reply, until the parent is gone (OK) or `handle` says that this was the last. `handle`
// is called as Serving(const Request&, std::vector<OwnedFd> fds, Reply*). Errors are the connection's.
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

}  // namespace telemetry::worker::tune
