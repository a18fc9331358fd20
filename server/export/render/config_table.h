#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// A config's text, and the text or its JSON form as a CSV field with its quotes. Both are valid as long as the table.
struct ConfigText {
  std::string_view text;
  std::string_view field;
};

// The configs of an export, each quoted once, no matter how many rows refer to it. The table grows with the number of
// distinct configs (about the size of their texts). It cannot drop a config, because a stream contains each config once
// for each sender. Not thread-safe.
class ConfigTable {
 public:
  // With fields_are_json, the fields contain the configs as JSON, or nothing for an empty text.
  explicit ConfigTable(bool fields_are_json = false) : fields_are_json_(fields_are_json) {}

  // Adds a config, or replaces its text.
  void Add(const v1::Config& config);

  // Returns null if the config was not added. The pointer is valid until the next Add().
  const ConfigText* Find(uint64_t config_id) const;

  size_t size() const { return configs_.size(); }

 private:
  ConfigText Quote(std::string_view text);
  // Copies the text into the table's memory.
  std::string_view Keep(std::string_view text);

  const bool fields_are_json_;
  absl::flat_hash_map<uint64_t, ConfigText> configs_;
  // Texts that replaced others, each stored once, no matter how often it was used.
  absl::flat_hash_map<std::string_view, ConfigText> replacements_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace telemetry::exporter::render
