#include "server/web/rows/config_table.h"

#include <algorithm>
#include <charconv>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "proto/record/strings.h"
#include "server/storage/sql/statement.h"
#include "server/web/json/clean_text.h"
#include "server/web/rows/by_keys.h"

namespace telemetry::web::rows {
namespace {

using record::Cat;
using record::Json;

constexpr size_t kMostElements = 16;  // of a list that is split
constexpr size_t kMostNameBytes = 80;

std::string Shown(std::string_view text) { return json::CleanText(text, kMostNameBytes); }

bool IsScalar(const Json& value) { return value.kind != Json::Kind::kArray && value.kind != Json::Kind::kObject; }

bool IsSplit(const Json& value) {
  return value.kind == Json::Kind::kArray && value.items.size() > 1 && value.items.size() <= kMostElements &&
         std::all_of(value.items.begin(), value.items.end(), IsScalar);
}

// Returns a literal as the tuner writes it.
std::string Literal(const Json& value) {
  Json config = Json::Object();
  config.members.emplace_back("x", value);
  const std::string text = record::FormatConfig(config);  // Config(x=...)
  const size_t from = text.find('=') + 1;
  return text.substr(from, text.size() - from - 1);
}

// Parses a JSON array of keys, which may be cut after any character.
std::vector<int64_t> ParseKeys(std::string_view text) {
  std::vector<int64_t> keys;
  if (!text.ends_with(']')) text = text.substr(0, text.rfind(',') + 1);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int64_t key = 0;
    const auto [next, error] = std::from_chars(at, end, key);
    if (error == std::errc()) keys.push_back(key);
    at = error == std::errc() ? next : at + 1;
  }
  return keys;
}

}  // namespace

std::vector<ConfigTable::Setting> SplitArgument(std::string_view text) {
  const absl::StatusOr<Json> parsed = record::ParseConfig(Cat("Config(", text, ")"));
  if (!parsed.ok() || parsed->members.size() != 1) {
    const size_t equals = std::min(text.find('='), text.size());
    return {{Shown(text.substr(0, equals)), Shown(text.substr(std::min(equals + 1, text.size())))}};
  }
  const auto& [name, value] = parsed->members.front();
  if (!IsSplit(value)) return {{Shown(name), Shown(Literal(value))}};
  std::vector<ConfigTable::Setting> settings;
  for (size_t i = 0; i < value.items.size(); ++i) {
    settings.emplace_back(Cat(Shown(name), "[", i, "]"), Shown(Literal(value.items[i])));
  }
  return settings;
}

absl::StatusOr<ConfigTable> ConfigTable::Read(storage::sql::Database& dataset, absl::Span<const int64_t> configs) {
  ConfigTable table;
  RETURN_IF_ERROR(table.ReadConfigs(dataset, configs));
  RETURN_IF_ERROR(table.ReadArguments(dataset));
  return table;
}

absl::Status ConfigTable::ReadConfigs(storage::sql::Database& dataset, absl::Span<const int64_t> configs) {
  return ReadByKeys(dataset, "SELECT config, config_id, substr(arguments, 1, 4000) FROM configs WHERE config", configs,
                    [this](const storage::sql::Statement& row) {
                      Config& config = configs_[row.Int(0)];
                      config.id = record::FormatConfigId(static_cast<uint64_t>(row.Int(1)));
                      config.arguments = ParseKeys(row.Text(2));
                      for (const int64_t argument : config.arguments) arguments_[argument];
                    });
}

absl::Status ConfigTable::ReadArguments(storage::sql::Database& dataset) {
  std::vector<int64_t> keys;
  keys.reserve(arguments_.size());
  for (const auto& [key, settings] : arguments_) keys.push_back(key);
  return ReadByKeys(
      dataset, "SELECT argument, substr(text, 1, 1000) FROM config_arguments WHERE argument", keys,
      [this](const storage::sql::Statement& row) { arguments_[row.Int(0)] = SplitArgument(row.Text(1)); });
}

const ConfigTable::Config& ConfigTable::Find(int64_t config) const {
  static const Config* const kNone = new Config();
  const auto found = configs_.find(config);
  return found == configs_.end() ? *kNone : found->second;
}

const std::vector<ConfigTable::Setting>& ConfigTable::Argument(int64_t argument) const {
  static const std::vector<Setting>* const kNone = new std::vector<Setting>();
  const auto found = arguments_.find(argument);
  return found == arguments_.end() ? *kNone : found->second;
}

}  // namespace telemetry::web::rows
