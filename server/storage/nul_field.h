#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

namespace telemetry::storage {

// The name of the first text field in the message, or in one that it holds, that has a NUL in it. Bytes are no text.
// PostgreSQL's texts cannot hold one, and no producer has a reason to send it.
std::optional<std::string> FieldWithNul(const google::protobuf::Message& message);

}  // namespace telemetry::storage
