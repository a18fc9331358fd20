#pragma once

#include "absl/types/span.h"

namespace telemetry::storage {

// One numbered SQL file of migrations/sqlite.
struct Migration {
  int number;
  const char* name;
  const char* sql;
};

// Returns all migrations, embedded at build time, in the order of their numbers: 1, 2, 3, ...
absl::Span<const Migration> EmbeddedMigrations();

}  // namespace telemetry::storage
