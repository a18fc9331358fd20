#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/call_op_set.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/call/running_calls.h"
#include "server/call/thread_progress.h"
#include "server/net/server_load.h"

namespace telemetry::call {

class CallOnWire;
class RawCall;

// The completion queue of a server and its threads, which poll the sockets and run the reactions of the calls, one
// reaction at a time. Usually the first thread is alone: with several, gRPC 1.51 wakes another one for each socket
// event, which costs CPU time. Reactions must not block and must leave long work to other threads. Thread-safe.
//
// gRPC reads a socket until it is empty, and polls no other socket while events wait in the queue. A client that sends
// faster than a thread reads would therefore keep the thread from all others. Against this, Supervise lets the other
// threads help, and new calls, of which such a client may have started thousands, are taken at most kMostNewCalls per
// kNewCallsTime. A reaction starts its operations when others may run (OperationScope), because such a read may happen
// in them.
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
  // An event takes a thread microseconds, and the longest message some milliseconds.
  static constexpr absl::Duration kHelpAfter = absl::Milliseconds(3);
  static constexpr absl::Duration kStuckAfter = absl::Milliseconds(20);
  static constexpr absl::Duration kHelpFor = absl::Seconds(2);
  static constexpr size_t kThreads = 4;

  // `calls` must outlive the queue.
  explicit CallQueue(RunningCalls& calls);
  // Calls Stop().
  ~CallQueue() { Stop(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Adds the queue to a server that is being built. Must be called once only.
  void AddTo(grpc::ServerBuilder& builder);
  // Starts the threads. The server must have been built.
  void Start();
  // Blocks until gRPC has finished all calls, then ends the threads. The server must have been shut down.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_, help_);

  // Runs `work` like a reaction after the work posted earlier; after Stop, runs `work` before returning. gRPC
  // operations that a reaction starts wake no other thread.
  void Post(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);

  // If a thread has used more than kHelpAfter of CPU time without an event, lets the others help for kHelpFor. Returns
  // kStuck if a thread has used more than kStuckAfter, kLight if all mostly wait. Must be called every few
  // milliseconds, by one thread.
  net::ServerLoad Supervise() ABSL_LOCKS_EXCLUDED(help_);

  // Accepts the calls of `method`, which must outlive the queue. The server must have been built.
  void Take(const Method& method);
  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }

 private:
  friend class CallOnWire;

  struct Thread {
    std::thread thread;
    ThreadProgress progress;
  };

  // The function of the first thread.
  void Lead(Thread& self);
  // The function of the others.
  void Help(Thread& self) ABSL_LOCKS_EXCLUDED(help_);
  bool needs_help() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(help_) { return SteadyNow() < help_until_; }
  void React(Thread& self, void* tag, bool ok) ABSL_LOCKS_EXCLUDED(mutex_, reaction_);
  void RunPosted() ABSL_LOCKS_EXCLUDED(mutex_);
  // Accepts the next call of `method`, at once or when it is time. Called by reactions only.
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
  enum class State { kBuilt, kRunning, kStopped };
  State state_ ABSL_GUARDED_BY(mutex_) = State::kBuilt;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(mutex_);
  // Pending while posted_ is not empty.
  grpc::Alarm alarm_ ABSL_GUARDED_BY(mutex_);
  std::array<Thread, kThreads> threads_;
  absl::Mutex help_;
  SteadyTime help_until_ ABSL_GUARDED_BY(help_) = kLongAgo;

  absl::Mutex reaction_;  // held while a reaction runs
  // Used by reactions only: the calls taken until new_calls_end_, and the methods whose next call is taken then. The
  // alarm is pending while there are any.
  int new_calls_ = 0;
  SteadyTime new_calls_end_ = kLongAgo;
  std::vector<const Method*> delayed_;
  grpc::Alarm delay_;
};

// The gRPC part of a call: its stream and its pending operations. Deletes itself when gRPC has finished the call. Any
// thread may start an operation, with locks only within an OperationScope; when an operation ends, the queue runs the
// matching reaction of the RawCall.
class CallOnWire {
 public:
  // Creates the object that waits for the next call of `method`.
  static void Await(CallQueue& queue, const CallQueue::Method& method);

  // At most one read and one write may be pending. Finish is called once, together with the last write or when no write
  // is pending.
  void Read(grpc::ByteBuffer* message);
  void Write(const grpc::ByteBuffer& message);
  // Returns true if the messages go over a socket, so that a short write ends before the client reads it.
  bool is_on_socket() const { return absl::StartsWith(peer_, "ipv"); }
  // A Write and a Read as one operation, which ends when both have ended, with the reaction to the read. gRPC 1.51
  // sends the flow control of a read at once, and in one packet only with a write of the same operation. Not for the
  // first write. Requires is_on_socket(): otherwise a client that writes before it reads would wait forever.
  void WriteAndRead(const grpc::ByteBuffer& message, grpc::ByteBuffer* next);
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
  grpc::internal::CallOpSet<grpc::internal::CallOpSendMessage, grpc::internal::CallOpRecvMessage<grpc::ByteBuffer>>
      write_and_read_;
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
