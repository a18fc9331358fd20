#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "proto/record/json.h"

namespace telemetry::record {

// INVALID_ARGUMENT, naming the key: an object in the value has it twice. json.loads would keep one of the two in
// silence.
absl::Status RefuseRepeatedKeys(const Json& value);

// Takes an object's members one by one, by name; what nobody took is the rest. The object must outlive it.
class RecordMembers {
 public:
  explicit RecordMembers(const Json& object) : object_(object), taken_(object.members.size()) {}

  // The first member of that name, taken already or not; nullptr where there is none.
  const Json* Find(std::string_view key) const { return object_.Find(key); }
  // The same, and it does not belong to the rest.
  const Json* Take(std::string_view key);
  // INVALID_ARGUMENT, naming the key: missing, or no string.
  absl::Status TakeString(std::string_view key, std::string* value);
  absl::Status TakeBool(std::string_view key, bool* value);

  // The members that were not taken, as one JSON object; empty where there are none.
  std::string RestJson() const;

 private:
  const Json& object_;
  std::vector<bool> taken_;
};

// Writes one JSON object as json.dumps does, member by member.
class RecordWriter {
 public:
  explicit RecordWriter(std::string* out) : out_(out) { out_->push_back('{'); }

  void String(std::string_view key, std::string_view value);
  void Bool(std::string_view key, bool value);
  void Null(std::string_view key) { Text(key, "null"); }
  // `json` is written as it stands.
  void Text(std::string_view key, std::string_view json);
  // The members of a JSON object in json.dumps' form, or nothing for an empty text.
  void MembersOf(std::string_view json_object);
  // Begins a member; the caller appends its value to the same string.
  void Key(std::string_view key);
  void Close() { out_->push_back('}'); }

 private:
  void Separate();

  std::string* const out_;
  bool first_ = true;
};

}  // namespace telemetry::record
