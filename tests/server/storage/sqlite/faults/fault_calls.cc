// Wraps the calls of SQLite that can fail (linker option --wrap). Each call is a fault point of FaultPoints.

#include <sqlite3.h>

#include "tests/server/storage/sqlite/faults/fault_points.h"

using Points = telemetry::storage::sqlite::FaultPoints;

#define TELEMETRY_WRAP(name, parameters, arguments)                                          \
  extern "C" int __real_##name parameters;                                                   \
  extern "C" int __wrap_##name parameters {                                                  \
    if (const int fault = Points::Pass(Points::Kind::kCallBefore); fault != 0) return fault; \
    const int result = __real_##name arguments;                                              \
    const int fault = Points::Pass(Points::Kind::kCallAfter);                                \
    return fault != 0 ? fault : result;                                                      \
  }

TELEMETRY_WRAP(sqlite3_open_v2, (const char* path, sqlite3** out, int flags, const char* vfs), (path, out, flags, vfs))
TELEMETRY_WRAP(sqlite3_busy_timeout, (sqlite3 * database, int ms), (database, ms))
TELEMETRY_WRAP(sqlite3_exec,
               (sqlite3 * database, const char* sql, int (*row)(void*, int, char**, char**), void* context,
                char** message),
               (database, sql, row, context, message))
TELEMETRY_WRAP(sqlite3_prepare_v3,
               (sqlite3 * database, const char* sql, int size, unsigned flags, sqlite3_stmt** out, const char** tail),
               (database, sql, size, flags, out, tail))
TELEMETRY_WRAP(sqlite3_step, (sqlite3_stmt * statement), (statement))
TELEMETRY_WRAP(sqlite3_bind_int64, (sqlite3_stmt * statement, int index, sqlite3_int64 value),
               (statement, index, value))
TELEMETRY_WRAP(sqlite3_bind_double, (sqlite3_stmt * statement, int index, double value), (statement, index, value))
TELEMETRY_WRAP(sqlite3_bind_null, (sqlite3_stmt * statement, int index), (statement, index))
TELEMETRY_WRAP(sqlite3_bind_text64,
               (sqlite3_stmt * statement, int index, const char* text, sqlite3_uint64 size, void (*release)(void*),
                unsigned char encoding),
               (statement, index, text, size, release, encoding))
TELEMETRY_WRAP(sqlite3_bind_blob64,
               (sqlite3_stmt * statement, int index, const void* bytes, sqlite3_uint64 size, void (*release)(void*)),
               (statement, index, bytes, size, release))
TELEMETRY_WRAP(sqlite3_wal_checkpoint_v2,
               (sqlite3 * database, const char* schema, int mode, int* log_frames, int* checkpointed),
               (database, schema, mode, log_frames, checkpointed))
TELEMETRY_WRAP(sqlite3_wal_autocheckpoint, (sqlite3 * database, int pages), (database, pages))
