#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "server/call/call_queue.h"
#include "server/call/running_calls.h"

namespace telemetry::call {

// A call of a RawService. Lives until gRPC has finished the call and no other object refers to it.
class RawCall : public RunningCall, public std::enable_shared_from_this<RawCall> {
 public:
  virtual ~RawCall() = default;

 protected:
  explicit RawCall(AdmittedCall call) : call_(std::move(call)) {}

  const access::Caller& caller() const { return call_.caller; }
  std::string_view method() const { return call_.method; }
  const std::string& sender() const { return call_.sender; }
  // Valid until OnDone returns. A registered call has not reached OnDone.
  grpc::ServerContext& context() { return call_.context; }
  CallOnWire& wire() { return *wire_; }

  // Counts a message that has arrived completely.
  void CountMessage(const grpc::ByteBuffer& message) { calls_->AddMessage(call_, message); }

  // Starts the first read. Called once, when the call is registered.
  virtual void Begin() = 0;
  // The reactions to the operations of wire(), one at a time of all calls. A failed write or finish means that the
  // client has disconnected.
  virtual void OnReadDone(bool ok) = 0;
  virtual void OnWriteDone(bool /*ok*/) {}
  virtual void OnTimer() {}
  // Called when the client has disconnected or was disconnected.
  virtual void OnCancel() {}
  // Called when gRPC has finished the call.
  virtual void OnDone();

 private:
  friend class CallOnWire;

  // Registers the call and begins it.
  void BeginOn(CallOnWire& wire, RunningCalls& calls);

  const AdmittedCall call_;
  CallOnWire* wire_ = nullptr;
  RunningCalls* calls_ = nullptr;
};

// A gRPC service whose methods, including unary ones, are all byte streams to gRPC; the wire format is the same.
// Therefore a call begins with its headers. gRPC's own unary methods begin only when the request has arrived
// completely, so that calls that wait for their request can neither be counted nor ended.
class RawService : public grpc::Service {
 public:
  // Starts accepting calls. The server with this service and the queue must have been built.
  void Start(CallQueue& queue);

 protected:
  using Make = std::function<std::shared_ptr<RawCall>(AdmittedCall)>;

  // `calls` must outlive the service.
  explicit RawService(RunningCalls& calls) : calls_(calls) {}

  // `method` must be a literal.
  void AddMethod(const char* method, CallKind kind, Make make);

 private:
  RunningCalls& calls_;
  CallQueue* queue_ = nullptr;
  std::deque<CallQueue::Method> methods_;
};

}  // namespace telemetry::call
