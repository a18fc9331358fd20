#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>
#include <vector>

namespace telemetry::collector {

struct CallOutcome {
  grpc::Status status;
  int responses = 0;
  std::string response;  // the last one's bytes
};

// Calls any method of any kind: sends one request, says that there are no more, reads all responses. `authorization`:
// the values of that metadata key.
CallOutcome CallAnything(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                         const std::string& request_bytes, const std::vector<std::string>& authorization = {});

}  // namespace telemetry::collector
