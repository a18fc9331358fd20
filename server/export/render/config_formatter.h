#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"

namespace telemetry::exporter::render {

// Formats configs as JSON objects. Most arguments of a config also occur in other configs, so the formatter keeps the
// JSON of each argument, up to a limit of 4 MiB for all. Not thread-safe.
class ConfigFormatter {
 public:
  // Returns the JSON of a config's text, in the form of json.dumps: an object, or a string if the text is not a call
  // with literals. The members that `keys_json` (a JSON array of strings, or empty) names come first, in its order.
  std::string Format(std::string_view text, std::string_view keys_json);

 private:
  // An argument of a config.
  struct Member {
    int name = 0;      // equal for equal names, from 1; 0: the text is not one argument with a literal
    std::string json;  // "name": value
  };

  // Fills members_ with the config's arguments. Returns false if the text has another form or a name occurs twice.
  bool FindMembers(std::string_view text);
  const Member& Find(std::string_view argument);
  Member Parse(std::string_view argument);
  int NameKey(std::string_view name);
  // Moves the members with these names to the front.
  void Order(std::string_view keys_json);
  void Forget();

  absl::node_hash_map<std::string, Member> known_;  // by the argument's text; entries keep their address
  absl::flat_hash_map<std::string, int> names_;
  uint64_t bytes_ = 0;  // of known_ and names_
  // The list of keys that was used last, and the names in it: most configs of a run have the same one.
  std::string keys_json_;
  std::vector<int> keys_;
  std::vector<const Member*> members_;  // of the current config
};

}  // namespace telemetry::exporter::render
