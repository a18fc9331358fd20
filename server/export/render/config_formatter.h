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

  std::string FormatParsed(std::string_view text, std::string_view keys_json);
  // Fills members_ with the config's arguments. Returns false if the text has another form or a name occurs twice.
  bool FindMembers(std::string_view text);
  const Member& Find(std::string_view argument);
  Member Parse(std::string_view argument);
  int NameKey(std::string_view name);
  // Moves the items that `keys_json` names to the front. `name_of` returns the NameKey of an item; each occurs once.
  template <typename Item, typename NameOf>
  void Order(std::string_view keys_json, std::vector<Item>* items, NameOf name_of);
  // Returns the value of a name, which is 0 at first.
  template <typename T>
  static T& At(std::vector<T>& of_names, int name);
  void Forget();

  absl::node_hash_map<std::string, Member> known_;  // by the argument's text; entries keep their address
  absl::flat_hash_map<std::string, int> names_;
  uint64_t bytes_ = 0;  // of known_ and names_
  // The list of keys that was used last: most configs of a run have the same one. By name, its place in the list, which
  // is negative; 0: not in it.
  std::string keys_json_;
  std::vector<int64_t> places_;
  std::vector<uint64_t> seen_in_;       // by name, the value of count_ for the last config that has it
  uint64_t count_ = 0;                  // of configs so far
  std::vector<const Member*> members_;  // of the current config
};

}  // namespace telemetry::exporter::render
