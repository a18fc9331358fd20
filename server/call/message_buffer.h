#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::call {

// Returns the message as the buffer that gRPC sends.
inline grpc::ByteBuffer ToBuffer(const std::string& serialised) {
  const grpc::Slice slice(serialised);
  return grpc::ByteBuffer(&slice, 1);
}
inline grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  return ToBuffer(message.SerializeAsString());
}

// Parses a message that gRPC has received. Returns INVALID_ARGUMENT if the bytes are not a message of this type.
inline absl::Status FromBuffer(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite* message) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (buffer.Dump(&slices).ok()) {
    for (const grpc::Slice& part : slices) bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
    if (message->ParseFromString(bytes)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the request cannot be parsed");
}

}  // namespace telemetry::call
