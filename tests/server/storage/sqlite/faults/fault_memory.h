#pragma once

namespace telemetry::storage {

// Makes SQLite's allocations places of FaultPoints. Before SQLite is used for the first time in the process.
void InstallFaultMemory();

}  // namespace telemetry::storage
