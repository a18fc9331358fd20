#include "tests/server/storage/sqlite/faults/fault_memory.h"

#include <sqlite3.h>

#include "tests/server/storage/sqlite/faults/fault_points.h"

namespace telemetry::storage::sqlite {
namespace {

sqlite3_mem_methods real;

bool Fails() { return FaultPoints::Pass(FaultPoints::Kind::kMemory) != 0; }
void* Allocate(int size) { return Fails() ? nullptr : real.xMalloc(size); }
void* Reallocate(void* memory, int size) { return Fails() ? nullptr : real.xRealloc(memory, size); }

}  // namespace

void InstallFaultMemory() {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
  sqlite3_mem_methods methods = real;
  methods.xMalloc = &Allocate;
  methods.xRealloc = &Reallocate;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
  // Without these settings SQLite serves small allocations from pools that never reach the wrapped allocator.
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0);
}

}  // namespace telemetry::storage::sqlite
