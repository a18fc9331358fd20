#pragma once

namespace telemetry::storage {

// Registers a VFS of this name: the machine's own files, whose reads, writes and syncs are places of FaultPoints. Once
// in a process.
void RegisterFaultVfs(const char* name);

}  // namespace telemetry::storage
