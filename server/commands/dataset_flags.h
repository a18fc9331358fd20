#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/base/cli/flags.h"

namespace telemetry::commands {

// Adds --NAME for the SQLite file of a command that does not work on a PostgreSQL database.
void AddSqliteFile(cli::Flags& flags, const std::string& name, std::string& value, const std::string& help);

// Returns an error if `db`, the value of --db, is not a SQLite file but a PostgreSQL database.
absl::Status CheckSqliteFile(const std::string& db);

}  // namespace telemetry::commands
