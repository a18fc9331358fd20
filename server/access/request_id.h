#pragma once

#include <grpcpp/server_context.h>

#include <string>

namespace telemetry::access {

// An id that no other call of this process has, nor, by 64 random bits, one of another process: "9f3c0a117de2b845-1a".
// Thread-safe.
std::string NewRequestId();

// The call's id: the one that the caller sent, when it is one (see proto/access/request_id.h), else a new one. It goes
// to the caller with the initial metadata. Once for each call, before anything is sent.
std::string BeginRequest(grpc::ServerContext& context);

}  // namespace telemetry::access
