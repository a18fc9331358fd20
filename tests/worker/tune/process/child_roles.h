#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/wrappers.pb.h"
#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune {

// Bytes, as a message.
using Text = google::protobuf::BytesValue;

// No wait of a test comes near this.
inline constexpr absl::Duration kLong = absl::Seconds(60);

inline Text TextOf(const std::string& value) {
  Text text;
  text.set_value(value);
  return text;
}

// A child of this test program, which plays one of the roles of child_roles.cc.
absl::StatusOr<std::unique_ptr<ChildProcess>> StartRole(const std::string& role);

// Sends a text, and descriptors with it, and waits for the answer.
absl::StatusOr<std::string> Ask(ChildProcess* child, const std::string& question, absl::Span<const int> fds = {});

// The other side: empty where the arguments are not a child's.
std::optional<int> PlayRole(int argc, char** argv);

}  // namespace telemetry::worker::tune
