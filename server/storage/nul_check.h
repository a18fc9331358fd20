#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

namespace telemetry::storage {

// Returns the name of the first text field that contains a NUL, in the message or in its sub-messages. Fields of type
// bytes are not texts. PostgreSQL cannot store a NUL in a text, and no producer has a reason to send one.
std::optional<std::string> FieldWithNul(const google::protobuf::Message& message);

}  // namespace telemetry::storage
