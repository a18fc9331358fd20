#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "proto/record/json.h"

namespace telemetry::record::sidecar {

// Returns INVALID_ARGUMENT with the key's name if an object in the value contains a key twice. json.loads would
// silently keep one of the two.
absl::Status RefuseRepeatedKeys(const Json& value);

// A reader that takes an object's members by name and keeps track of the rest. The object must outlive the reader.
class RecordMembers {
 public:
  explicit RecordMembers(const Json& object) : object_(object), taken_(object.members.size()) {}

  // Returns the first member with this name, taken or not, or nullptr.
  const Json* Find(std::string_view key) const { return object_.Find(key); }
  // Like Find(), and marks the member as taken.
  const Json* Take(std::string_view key);
  // Return INVALID_ARGUMENT with the key's name if the member is missing or has another type.
  absl::Status TakeString(std::string_view key, std::string* value);
  absl::Status TakeBool(std::string_view key, bool* value);

  // Returns the members that were not taken as one JSON object, or an empty string if there are none.
  std::string RestJson() const;

 private:
  const Json& object_;
  std::vector<bool> taken_;
};

// A writer that appends one JSON object, member by member, in the form of json.dumps.
class RecordWriter {
 public:
  explicit RecordWriter(std::string* out) : out_(out) { out_->push_back('{'); }

  void String(std::string_view key, std::string_view value);
  void Bool(std::string_view key, bool value);
  void Null(std::string_view key) { Text(key, "null"); }
  // Writes a member whose value is the JSON text `json`, unchanged.
  void Text(std::string_view key, std::string_view json);
  // Writes the members of a JSON object in the form of json.dumps. Writes nothing for an empty text.
  void WriteMembers(std::string_view json_object);
  // Begins a member. The caller then appends the value to the same string.
  void Key(std::string_view key);
  void Close() { out_->push_back('}'); }

 private:
  void Separate();

  std::string* const out_;
  bool first_ = true;
};

}  // namespace telemetry::record::sidecar
