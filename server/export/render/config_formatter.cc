#include "server/export/render/config_formatter.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "proto/record/strings.h"
#include "server/export/render/json_values.h"

namespace telemetry::exporter::render {
namespace {

using record::Json;

// Limit of the stored arguments and names.
constexpr uint64_t kMostBytes = uint64_t{4} << 20;
// An estimate of the memory of an entry beside its texts.
constexpr uint64_t kEntryBytes = 192;

std::vector<std::string> ParseKeys(std::string_view keys_json) {
  std::vector<std::string> keys;
  absl::StatusOr<Json> parsed = record::ParseJson(keys_json);
  if (!parsed.ok()) return keys;
  for (Json& key : parsed->items) keys.push_back(std::move(key.text));
  return keys;
}

}  // namespace

std::string ConfigFormatter::Format(std::string_view text, std::string_view keys_json) {
  if (bytes_ > kMostBytes) Forget();
  if (!FindMembers(text)) return FormatParsed(text, keys_json);
  Order(keys_json, &members_, [](const Member* member) { return member->name; });
  size_t size = 2;
  for (const Member* member : members_) size += member->json.size() + 2;
  std::string json;
  json.reserve(size);
  json.push_back('{');
  std::string_view separator;
  for (const Member* member : members_) {
    json.append(separator).append(member->json);
    separator = ", ";
  }
  json.push_back('}');
  return json;
}

std::string ConfigFormatter::FormatParsed(std::string_view text, std::string_view keys_json) {
  Json config = ConfigJson(text);
  Order(keys_json, &config.members, [this](const auto& member) { return NameKey(member.first); });
  return record::ToJson(config);
}

bool ConfigFormatter::FindMembers(std::string_view text) {
  members_.clear();
  ++count_;
  for (const std::string_view argument : record::SplitConfigArguments(text)) {
    const Member& member = Find(argument);
    if (member.name == 0) return false;
    if (std::exchange(At(seen_in_, member.name), count_) == count_) return false;
    members_.push_back(&member);
  }
  return !members_.empty();
}

const ConfigFormatter::Member& ConfigFormatter::Find(std::string_view argument) {
  const auto known = known_.find(record::AbslView(argument));
  if (known != known_.end()) return known->second;
  Member member = Parse(argument);
  bytes_ += kEntryBytes + argument.size() + member.json.size();
  return known_.emplace(std::string(argument), std::move(member)).first->second;
}

// A text that is one argument between parentheses is also one argument between commas, unless it ends with a comma or a
// space, which may follow the last argument only.
ConfigFormatter::Member ConfigFormatter::Parse(std::string_view argument) {
  constexpr std::string_view kSeparators = ", \t\r\n\v\f";
  if (kSeparators.find(argument.back()) != std::string_view::npos) return {};
  const absl::StatusOr<Json> config = record::ParseConfig(record::Cat("Config(", argument, ")"));
  if (!config.ok() || config->members.size() != 1) return {};
  const auto& [name, value] = config->members.front();
  Member member = {.name = NameKey(name), .json = {}};
  record::AppendJsonString(name, &member.json);
  member.json.append(": ");
  record::AppendJson(value, &member.json);
  return member;
}

int ConfigFormatter::NameKey(std::string_view name) {
  const auto known = names_.find(record::AbslView(name));
  if (known != names_.end()) return known->second;
  bytes_ += kEntryBytes + name.size();
  const int key = static_cast<int>(names_.size()) + 1;
  names_.emplace(std::string(name), key);
  return key;
}

template <typename T>
T& ConfigFormatter::At(std::vector<T>& of_names, int name) {
  const auto at = static_cast<size_t>(name);
  if (of_names.size() <= at) of_names.resize(at + 1);
  return of_names[at];
}

template <typename Item, typename NameOf>
void ConfigFormatter::Order(std::string_view keys_json, std::vector<Item>* items, NameOf name_of) {
  if (keys_json.empty()) return;
  if (keys_json != keys_json_) {
    places_.clear();
    int64_t place = -static_cast<int64_t>(keys_json.size());  // there are fewer keys
    for (const std::string& key : ParseKeys(keys_json)) {
      int64_t& known = At(places_, NameKey(key));
      if (known == 0) known = place++;
    }
    keys_json_ = keys_json;
  }
  const auto precedes = [&](const Item& one, const Item& other) {
    return At(places_, name_of(one)) < At(places_, name_of(other));
  };
  if (!std::is_sorted(items->begin(), items->end(), precedes)) {
    std::stable_sort(items->begin(), items->end(), precedes);
  }
}

void ConfigFormatter::Forget() {
  known_.clear();
  names_.clear();
  keys_json_.clear();
  places_.clear();
  seen_in_.clear();
  bytes_ = 0;
}

}  // namespace telemetry::exporter::render
