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

namespace telemetry::collector {

// One call of a RawService. Lives until gRPC is done with it and nobody else has it.
class RawCall : public RunningCall, public std::enable_shared_from_this<RawCall> {
 public:
  virtual ~RawCall() = default;

 protected:
  explicit RawCall(AdmittedCall call) : call_(std::move(call)) {}

  const access::Caller& caller() const { return call_.caller; }
  std::string_view method() const { return call_.method; }
  const std::string& sender() const { return call_.sender; }
  // Until OnDone returns; a call that is registered has not come to that.
  grpc::ServerContext& context() { return call_.context; }
  CallOnWire& wire() { return *wire_; }

  // A message of the client is there whole.
  void CountMessage(const grpc::ByteBuffer& message) { calls_->AddMessage(call_, message); }

  // Begins to read. Called once, when the call is registered.
  virtual void Begin() = 0;
  // The reactions to the operations of wire(), from the queue's thread. A write or a finish that fails means that the
  // client has gone.
  virtual void OnReadDone(bool ok) = 0;
  virtual void OnWriteDone(bool /*ok*/) {}
  virtual void OnTimer() {}
  // The client has gone, or has been cut off.
  virtual void OnCancel() {}
  // gRPC is done with the call.
  virtual void OnDone();

 private:
  friend class CallOnWire;

  // Registers the call, and begins.
  void BeginOn(CallOnWire& wire, RunningCalls& calls);

  const AdmittedCall call_;
  CallOnWire* wire_ = nullptr;
  RunningCalls* calls_ = nullptr;
};

// A gRPC service all of whose methods are streams of bytes to gRPC, unary methods too; on the wire that is the same. So
// a call begins with its headers. gRPC's own unary methods begin when the request is there whole, and nobody can count
// or end the calls that wait for one.
class RawService : public grpc::Service {
 public:
  // Takes calls. The server that has this service and the queue has been built.
  void Start(CallQueue& queue);

 protected:
  using Make = std::function<std::shared_ptr<RawCall>(AdmittedCall)>;

  // `calls` outlives the service.
  explicit RawService(RunningCalls& calls) : calls_(calls) {}

  // `method` is a literal.
  void AddMethod(const char* method, CallKind kind, Make make);

 private:
  RunningCalls& calls_;
  CallQueue* queue_ = nullptr;
  std::deque<CallQueue::Method> methods_;
};

}  // namespace telemetry::collector
