#pragma once

namespace telemetry {

// Names the calling thread for tools such as `top -H`, perf and gdb. Linux keeps the first 15 characters. Thread-safe.
void NameThread(const char* name);

}  // namespace telemetry
