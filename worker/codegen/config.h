#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::worker::codegen {

// One point of a kernel's search space: an object with Helion's keys in alphabetical order. Its text form is Helion's
// literal, `Config(block_sizes=[32, 32], num_warps=4)`. Immutable; safe to share between threads. Copies share the
// object and its text and id, which are computed at most once.
class Config {
 public:
  Config() : Config(record::Json::Object()) {}
  explicit Config(record::Json object);
  // Parses a literal (`Config(...)`, `helion.Config(...)`) or a JSON object. INVALID_ARGUMENT for any other text.
  static absl::StatusOr<Config> Parse(std::string_view text);

  const record::Json& json() const;
  const std::string& ToString() const;
  // Returns the config's id, as FORMATS.md (Identity) defines it: the number whose text form is 16 hex digits.
  uint64_t id() const;

  friend bool operator==(const Config& a, const Config& b) {
    return a.content_ == b.content_ || a.ToString() == b.ToString();
  }

 private:
  struct Content;

  std::shared_ptr<const Content> content_;  // never null, except after a move
};

}  // namespace telemetry::worker::codegen
