#pragma once

namespace telemetry::storage::sql {

// One numbered SQL file of migrations/.
struct Migration {
  int number;
  const char* name;
  const char* sql;
};

}  // namespace telemetry::storage::sql
