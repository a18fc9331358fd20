#pragma once

#include <cstdint>

namespace telemetry::storage::sqlite {

// The points of this process at which a disk, SQLite or its memory may fail, in the order of execution. A test arms one
// of them; all others work. Not thread-safe.
class FaultPoints {
 public:
  enum class Kind {
    kNone,
    kDisk,        // a write, truncation, deletion or fsync of a file opened through the fault VFS
    kDiskRead,    // a read of such a file
    kCallBefore,  // a call of SQLite that fails without any effect
    kCallAfter,   // a call of SQLite that takes effect but reports a failure
    kMemory,      // an allocation by SQLite
  };

  // Makes the nth point of this kind from now on (n from 1) fail with SQLite's result code `code`, and all later points
  // too if `repeats`.
  static void Arm(Kind kind, int64_t nth, int code, bool repeats);
  // Returns true if the point was reached.
  static bool Disarm();

  // Called at each point: returns 0, or the code to fail with.
  static int Pass(Kind kind);
};

}  // namespace telemetry::storage::sqlite
