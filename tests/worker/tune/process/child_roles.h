#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/wrappers.pb.h"
#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune::process {

// A message that contains bytes.
using Text = google::protobuf::BytesValue;

// A timeout that no test should reach.
inline constexpr absl::Duration kLong = absl::Seconds(60);

inline Text MakeText(const std::string& value) {
  Text text;
  text.set_value(value);
  return text;
}

// Starts this test program as a child that plays one of the roles of child_roles.cc.
absl::StatusOr<std::unique_ptr<ChildProcess>> StartRole(const std::string& role);

// Sends a text with descriptors and returns the reply.
absl::StatusOr<std::string> Ask(ChildProcess* child, const std::string& question, absl::Span<const int> fds = {});

// Plays a role in the child and returns its exit status; nullopt if the arguments are not those of a child.
std::optional<int> PlayRole(int argc, char** argv);

}  // namespace telemetry::worker::tune::process
