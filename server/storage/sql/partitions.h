#pragma once

// Tables that PostgreSQL partitions by run have a column more there, which begins their keys, and a condition on it
// finds the partition. A database that does not know them takes these for comments; a statement that has one of them is
// bound with InRun (statement.h).

// Before the first column of an INSERT, and before its first value.
#define TELEMETRY_RUN_COLUMN "/*postgresql run, */"
#define TELEMETRY_RUN_VALUE "/*postgresql ?run, */"
// Before the first condition of a WHERE.
#define TELEMETRY_IN_RUN "/*postgresql run = ?run AND */"
