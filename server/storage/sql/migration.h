#pragma once

namespace telemetry::storage::sql {

// One numbered SQL file of migrations/.
struct Migration {
  int number;
  const char* name;
  const char* sql;
  // PostgreSQL: programs that know this schema version may use a database after the migration. 0: only programs that
  // know the migration.
  int works_with = 0;
};

}  // namespace telemetry::storage::sql
