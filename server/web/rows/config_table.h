#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/storage/sql/database.h"

namespace telemetry::web::rows {

// The ids and arguments of a set of configs.
class ConfigTable {
 public:
  struct Config {
    std::string id;                  // 16 hex digits
    std::vector<int64_t> arguments;  // keys, for Argument(); empty if there is no text that consists of arguments
  };
  // A setting of a config: the name of a knob, and its value as the tuner writes it. An argument that is a list of
  // scalars gives a setting for each element: "block_sizes[0]".
  using Setting = std::pair<std::string, std::string>;

  // Reads the configs with these keys, in the caller's transaction. A config without a text of its own has the id only.
  static absl::StatusOr<ConfigTable> Read(storage::sql::Database& dataset, absl::Span<const int64_t> configs);

  // Returns the config with this key, or an empty one if it was not read.
  const Config& Find(int64_t config) const;
  // Returns the settings of an argument.
  const std::vector<Setting>& Argument(int64_t argument) const;

 private:
  absl::Status ReadConfigs(storage::sql::Database& dataset, absl::Span<const int64_t> configs);
  absl::Status ReadArguments(storage::sql::Database& dataset);

  absl::flat_hash_map<int64_t, Config> configs_;
  absl::flat_hash_map<int64_t, std::vector<Setting>> arguments_;
};

// Splits an argument such as "block_sizes=[16, 32]" into its settings.
std::vector<ConfigTable::Setting> SplitArgument(std::string_view text);

}  // namespace telemetry::web::rows
