#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// A config's text, and the same, or its JSON, as a CSV field with its quotes. Both live as long as the table.
struct ConfigText {
  std::string_view text;
  std::string_view field;
};

// The configs of an export, each quoted once however many rows name it. Grows with the number of distinct configs
// (about the size of their texts): a stream announces a config once for each sender, so none can be forgotten. Not
// thread-safe.
class ConfigTable {
 public:
  // fields_are_json: the fields hold the configs as JSON; that of an empty text is empty.
  explicit ConfigTable(bool fields_are_json = false) : fields_are_json_(fields_are_json) {}

  // A config that was added before has this text from now on.
  void Add(const v1::Config& config);

  // Null: no such config was added. The pointer is valid until the next Add.
  const ConfigText* Find(uint64_t config_id) const;

  size_t size() const { return configs_.size(); }

 private:
  ConfigText Quote(std::string_view text);
  // Copies the text to where it stays.
  std::string_view Keep(std::string_view text);

  const bool fields_are_json_;
  absl::flat_hash_map<uint64_t, ConfigText> configs_;
  // Texts that took the place of others, each kept once however often it did so.
  absl::flat_hash_map<std::string_view, ConfigText> replacements_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace telemetry::exporter
