#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>
#include <vector>

namespace telemetry::collector {

// The result of a finished call.
struct CallOutcome {
  grpc::Status status;
  int responses = 0;
  std::string response;  // bytes of the last response
};

// Calls any method of any kind: sends one request, half-closes, and reads all responses. `authorization`: the values of
// that metadata key.
CallOutcome CallAnything(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                         const std::string& request_bytes, const std::vector<std::string>& authorization = {});

// A call to any method that sends only its headers. The destructor cancels the call.
class SilentCall {
 public:
  SilentCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method);
  ~SilentCall();

  // Blocks until the collector ends the call.
  grpc::Status AwaitEnd();

 private:
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
};

}  // namespace telemetry::collector
