#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/readers/config_reader.h"
#include "server/storage/sql/attempt_key.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::api {

// Reads the texts of configs one by one, for short lists.
class ConfigTexts {
 public:
  explicit ConfigTexts(storage::sql::Database& dataset) : reader_(dataset) {}

  struct Config {
    std::string id;                   // 16 hex digits
    std::optional<std::string> text;  // nullopt: no text has arrived
  };
  absl::StatusOr<Config> Read(int64_t config);
  // Cuts the text as for a list.
  absl::StatusOr<Config> ReadCut(int64_t config);

 private:
  storage::readers::ConfigReader reader_;
};

// Returns the keys of the configs with this id, 16 hex digits. INVALID_ARGUMENT: it is not an id.
absl::StatusOr<std::vector<int64_t>> FindConfigs(storage::sql::Database& dataset, const std::string& config_id);

// Returns the key of the config of a row; nullopt: there is no such row.
absl::StatusOr<std::optional<int64_t>> ConfigOfRow(storage::sql::Database& dataset, const storage::sql::AttemptKey& key,
                                                   int64_t seq);

// Returns the config as JSON with its arguments in their order, or nullopt if it is no call with literals.
std::optional<std::string> ConfigJson(const std::string& text);

}  // namespace telemetry::web::api
