#pragma once

namespace telemetry::storage::sqlite {

// Makes each of SQLite's allocations a fault point. Must be called before the process uses SQLite for the first time.
void InstallFaultMemory();

}  // namespace telemetry::storage::sqlite
