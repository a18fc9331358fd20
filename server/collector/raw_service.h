#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "server/collector/running_calls.h"

namespace telemetry::collector {

// One call of a RawService. Lives until gRPC is done with it and nobody else has it.
class RawCall : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                public RunningCall,
                public std::enable_shared_from_this<RawCall> {
 public:
  ~RawCall() override = default;

 protected:
  explicit RawCall(AdmittedCall call) : call_(std::move(call)) {}

  const access::Caller& caller() const { return call_.caller; }
  std::string_view method() const { return call_.method; }
  const std::string& sender() const { return call_.sender; }
  // Until OnDone returns; a call that is registered has not come to that.
  grpc::CallbackServerContext& context() { return call_.context; }

  // A message of the client is there whole.
  void CountMessage(const grpc::ByteBuffer& message) { calls_->AddMessage(call_, message); }

  // Begins to read. Called once, when the call is registered.
  virtual void Begin() = 0;
  // gRPC is done with the call.
  void OnDone() override;

 private:
  friend class RawService;

  const AdmittedCall call_;
  RunningCalls* calls_ = nullptr;
  std::shared_ptr<RawCall> self_;  // until OnDone
};

// A call that ends before it begins.
class RefusedCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // `calls` outlives the call.
  RefusedCall(RunningCalls& calls, const std::string& peer, const absl::Status& why);

 private:
  void OnDone() override;

  RunningCalls& calls_;
};

// Refuses the calls to methods that no service has.
class UnknownMethods final : public grpc::CallbackGenericService {
 public:
  // `calls` outlives the service.
  explicit UnknownMethods(RunningCalls& calls) : calls_(calls) {}

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

  RunningCalls& calls_;
};

// A gRPC service all of whose methods are streams of bytes to gRPC, unary methods too; on the wire that is the same. So
// a call begins with its headers. gRPC's own unary methods begin when the request is there whole, and nobody can count
// or end the calls that wait for one.
class RawService : public grpc::Service {
 protected:
  using Make = std::function<std::shared_ptr<RawCall>(AdmittedCall)>;

  // `calls` outlives the service.
  explicit RawService(RunningCalls& calls) : calls_(calls) {}

  // `method` is a literal.
  void AddMethod(const char* method, CallKind kind, Make make);

 private:
  RunningCalls& calls_;
  int methods_ = 0;
};

}  // namespace telemetry::collector
