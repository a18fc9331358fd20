#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/call/running_calls.h"

namespace telemetry::collector {

class CallOnWire;
class RawCall;

// The completion queue of a server, and the one thread that polls its sockets and runs the reactions of its calls.
// gRPC 1.51 wakes another thread of several for each event of a socket, so that one thread takes less CPU. Reactions
// must not block, and leave long work to other threads. Thread-safe.
class CallQueue {
 public:
  // A method of a service, or all methods that no service has.
  struct Method {
    // Asks gRPC for the next call of the method.
    std::function<void(grpc::GenericServerContext& context, grpc::GenericServerAsyncReaderWriter& stream, void* tag)>
        request;
    // Lets a call in. After an error the call is refused with this status.
    std::function<absl::StatusOr<std::shared_ptr<RawCall>>(grpc::GenericServerContext& context)> make;
  };

  // `calls` outlives the queue.
  explicit CallQueue(RunningCalls& calls);
  // As Stop.
  ~CallQueue() { Stop(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Adds the queue to a server that is being built. Once only.
  void AddTo(grpc::ServerBuilder& builder);
  // Begins to take the events. The server has been built.
  void Start();
  // Waits until gRPC is done with all calls, then ends the thread. The server has been shut down.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs `work` on the queue's thread, behind earlier work; after Stop, at once. An operation that begins there wakes
  // no other thread.
  void Post(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes the calls of a method, which outlives the queue. The server has been built.
  void Take(const Method& method);
  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }

 private:
  friend class CallOnWire;

  void Run();
  void RunPosted() ABSL_LOCKS_EXCLUDED(mutex_);
  bool has_none() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return on_wire_ == 0; }

  RunningCalls& calls_;
  grpc::AsyncGenericService generic_service_;
  const Method unknown_method_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  absl::Mutex mutex_;
  uint64_t on_wire_ ABSL_GUARDED_BY(mutex_) = 0;  // objects
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(mutex_);
  // Its event is under way while something is posted.
  grpc::Alarm alarm_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// gRPC's part of a call: its stream, and the operations under way. Deletes itself when gRPC is done with the call.
// Operations may begin on any thread; a reaction of the RawCall follows each of them on the queue's thread.
class CallOnWire {
 public:
  // Waits for the next call of `method`.
  static void Await(CallQueue& queue, const CallQueue::Method& method);

  // One read and one write at a time. Finish comes once, with the last write or when none is under way.
  void Read(grpc::ByteBuffer* message);
  void Write(const grpc::ByteBuffer& message);
  void WriteAndFinish(const grpc::ByteBuffer& message, const grpc::Status& status);
  void Finish(const grpc::Status& status);
  // One at a time.
  void SetTimer(absl::Duration duration);
  void CancelTimer();

 private:
  friend class CallQueue;

  struct Operation {
    CallOnWire& call;
    void (CallOnWire::*end)(bool ok);
  };

  CallOnWire(CallQueue& queue, const CallQueue::Method& method);
  ~CallOnWire();

  void OnRequested(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnTimer(bool ok);
  void OnFinished(bool ok);
  void OnOver(bool ok);
  void EndOperation();

  CallQueue& queue_;
  const CallQueue::Method& method_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  std::optional<grpc::Alarm> timer_;
  std::shared_ptr<RawCall> call_;    // nullptr: none, or refused
  std::string peer_;                 // gRPC forgets it when the connection ends
  std::atomic<int> operations_ = 2;  // to come: Finish and gRPC's end; and those under way
  Operation requested_{*this, &CallOnWire::OnRequested};
  Operation read_{*this, &CallOnWire::OnRead};
  Operation written_{*this, &CallOnWire::OnWritten};
  Operation timed_{*this, &CallOnWire::OnTimer};
  Operation finished_{*this, &CallOnWire::OnFinished};
  Operation over_{*this, &CallOnWire::OnOver};
};

}  // namespace telemetry::collector
