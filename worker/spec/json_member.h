#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::worker::spec {

// A value of a JSON file with its path, for messages: "KernelSpecification.Arguments[2].Size". The file's value must
// outlive it. An absent member is a JsonMember, too.
class JsonMember {
 public:
  JsonMember(const record::Json* value, std::string path) : value_(value), path_(std::move(path)) {}

  // False: the member is absent or null.
  bool exists() const { return value_ != nullptr && !value_->is_null(); }
  const std::string& path() const { return path_; }
  const record::Json& json() const { return *value_; }  // requires exists()
  bool is_text() const { return exists() && value_->kind == record::Json::Kind::kString; }
  bool is_array() const { return exists() && value_->kind == record::Json::Kind::kArray; }

  JsonMember operator[](std::string_view name) const;

  // Return the value. INVALID_ARGUMENT: it is absent or of another kind.
  absl::StatusOr<std::string> Text() const;
  absl::StatusOr<int64_t> Integer() const;
  absl::StatusOr<double> Number() const;
  // Returns the items; none if the member is absent.
  absl::StatusOr<std::vector<JsonMember>> Items() const;
  absl::Status CheckObject() const;

  // Returns an error with the path.
  absl::Status Error(std::string_view what) const;
  absl::Status Unsupported(std::string_view what) const;
  // Adds the path to an error.
  absl::Status At(const absl::Status& status) const;

 private:
  absl::Status Expected(std::string_view what) const;

  const record::Json* value_;
  std::string path_;
};

}  // namespace telemetry::worker::spec
