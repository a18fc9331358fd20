#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/storage/sql/statement.h"
#include "server/web/api/call.h"

namespace telemetry::web::api {

// Returns the command that repeats a measurement, or nullopt for a run that the worker did not tune itself.
std::optional<std::string> ReproCommand(const Call& call, const std::string& run_id, const std::string& config_id,
                                        const std::string& dialect);

// Writes a config as a ConfigText. `run`: the run whose decorator it has.
absl::Status WriteConfigText(const Call& call, int64_t run, int64_t config, const std::string& dialect,
                             std::string_view key, json::JsonWriter& out);
// Writes the members of a ConfigText.
absl::Status WriteConfigMembers(const Call& call, int64_t run, int64_t config, const std::string& dialect,
                                json::JsonWriter& out);

// Writes a column that contains a JSON object as that object; null for NULL and for another text.
void WriteJsonColumn(json::JsonWriter& out, std::string_view key, const storage::sql::Statement& row, int column);

}  // namespace telemetry::web::api
