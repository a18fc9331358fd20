#pragma once

// SQL fragments for tables that PostgreSQL partitions by run. Such a table has an additional column `run` on
// PostgreSQL, the first of its key, and a condition on that column selects the partition. A database without partitions
// ignores these fragments as comments. A statement that contains one of them is bound with InRun (statement.h).

// Placed before the first column of an INSERT, and before its first value.
#define TELEMETRY_RUN_COLUMN "/*postgresql run, */"
#define TELEMETRY_RUN_VALUE "/*postgresql ?run, */"
// Placed before the first condition of a WHERE.
#define TELEMETRY_IN_RUN "/*postgresql run = ?run AND */"
