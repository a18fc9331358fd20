#pragma once

namespace telemetry::storage::sqlite {

// Registers a VFS of this name over the default one. Its reads, writes and fsyncs are fault points. Must be called once
// per process.
void RegisterFaultVfs(const char* name);

}  // namespace telemetry::storage::sqlite
