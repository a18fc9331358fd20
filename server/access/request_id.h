#pragma once

#include <grpcpp/server_context.h>

#include <string>

namespace telemetry::access {

// Returns a new call id such as "9f3c0a117de2b845-1a". The id is unique within the process; 64 random bits distinguish
// processes. Thread-safe.
std::string NewRequestId();

// Returns the id of the call: the valid id that the caller sent (see proto/access/request_id.h), or a new one. Adds the
// id to the initial metadata. Must be called once for each call, before anything is sent.
std::string BeginRequest(grpc::ServerContext& context);

}  // namespace telemetry::access
