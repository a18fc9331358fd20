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
#include "proto/base/steady.h"
#include "server/call/running_calls.h"

namespace telemetry::call {

class CallOnWire;
class RawCall;

// The completion queue of a server and its only thread, which polls the sockets and runs the reactions of the calls.
// With several threads, gRPC 1.51 wakes another thread for each socket event; one thread uses less CPU. Reactions must
// not block and must leave long work to other threads. Thread-safe.
//
// gRPC reads a socket until it is empty, and polls no other socket while events wait in the queue. A client that sends
// faster than the thread reads would therefore keep it from all others: IsStuck tells, and new calls, of which such a
// client may have started thousands, are taken at most kMostNewCalls per kNewCallsTime.
class CallQueue {
 public:
  // A method of a service, or all methods that no service implements.
  struct Method {
    // Requests the next call of the method from gRPC.
    std::function<void(grpc::GenericServerContext& context, grpc::GenericServerAsyncReaderWriter& stream, void* tag)>
        request;
    // Admits a call. After an error, the queue refuses the call with that status.
    std::function<absl::StatusOr<std::shared_ptr<RawCall>>(grpc::GenericServerContext& context)> make;
  };

  static constexpr int kMostNewCalls = 64;
  static constexpr absl::Duration kNewCallsTime = absl::Milliseconds(1);
  // An event takes the thread microseconds, and the longest message some milliseconds.
  static constexpr absl::Duration kStuckAfter = absl::Milliseconds(20);

  // `calls` must outlive the queue.
  explicit CallQueue(RunningCalls& calls);
  // Calls Stop().
  ~CallQueue() { Stop(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Adds the queue to a server that is being built. Must be called once only.
  void AddTo(grpc::ServerBuilder& builder);
  // Starts the thread. The server must have been built.
  void Start();
  // Blocks until gRPC has finished all calls, then ends the thread. The server must have been shut down.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs `work` on the queue's thread after the work posted earlier; after Stop, runs `work` before returning. gRPC
  // operations that start on the queue's thread wake no other thread.
  void Post(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns true if the thread has used more than kStuckAfter of CPU time without an event. Must be called regularly,
  // by one thread: the time counts from the first call after the last event.
  bool IsStuck();

  // Accepts the calls of `method`, which must outlive the queue. The server must have been built.
  void Take(const Method& method);
  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }

 private:
  friend class CallOnWire;

  void Run();
  void RunPosted() ABSL_LOCKS_EXCLUDED(mutex_);
  // Accepts the next call of `method`, at once or when it is time. Called on the queue's thread.
  void TakeNext(const Method& method);
  void TakeDelayed();
  // Counts one more call on the wire. Returns false if none may begin, because the queue is stopped.
  bool AddOnWire() ABSL_LOCKS_EXCLUDED(mutex_);
  bool has_none() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return on_wire_ == 0; }

  RunningCalls& calls_;
  grpc::AsyncGenericService generic_service_;
  const Method unknown_method_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  absl::Mutex mutex_;
  uint64_t on_wire_ ABSL_GUARDED_BY(mutex_) = 0;  // CallOnWire objects that exist
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(mutex_);
  // Pending while posted_ is not empty.
  grpc::Alarm alarm_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;

  // Used by thread_ only: the calls taken until new_calls_end_, and the methods whose next call is taken then. The
  // alarm is pending while there are any.
  int new_calls_ = 0;
  SteadyTime new_calls_end_ = kLongAgo;
  std::vector<const Method*> delayed_;
  grpc::Alarm delay_;

  std::atomic<uint64_t> events_ = 0;  // events of the queue so far
  // Used by the caller of IsStuck only.
  uint64_t seen_events_ = 0;
  absl::Duration cpu_at_event_;  // CPU time of thread_ when seen_events_ was seen first
  absl::Duration seen_cpu_;      // the same at the last call
  SteadyTime seen_at_ = SteadyNow();
};

// The gRPC part of a call: its stream and its pending operations. Deletes itself when gRPC has finished the call. Any
// thread may start an operation; when an operation ends, the queue's thread runs the matching reaction of the RawCall.
class CallOnWire {
 public:
  // Creates the object that waits for the next call of `method`.
  static void Await(CallQueue& queue, const CallQueue::Method& method);

  // At most one read and one write may be pending. Finish is called once, together with the last write or when no write
  // is pending.
  void Read(grpc::ByteBuffer* message);
  void Write(const grpc::ByteBuffer& message);
  void WriteAndFinish(const grpc::ByteBuffer& message, const grpc::Status& status);
  void Finish(const grpc::Status& status);
  // Starts a timer. At most one timer may be pending.
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
  std::shared_ptr<RawCall> call_;    // nullptr: no call yet, or a refused one
  std::string peer_;                 // kept here because gRPC drops it when the connection ends
  bool has_message_ = false;         // the first message has arrived completely
  std::atomic<int> operations_ = 2;  // pending operations, plus Finish and gRPC's notification of the end
  Operation requested_{*this, &CallOnWire::OnRequested};
  Operation read_{*this, &CallOnWire::OnRead};
  Operation written_{*this, &CallOnWire::OnWritten};
  Operation timed_{*this, &CallOnWire::OnTimer};
  Operation finished_{*this, &CallOnWire::OnFinished};
  Operation over_{*this, &CallOnWire::OnOver};
};

}  // namespace telemetry::call
