#pragma once

#include <cstdint>

namespace telemetry::storage {

// The places of this process where a disk, SQLite or its memory could fail, in the order in which they are passed. A
// test arms one of them; all others work. For one thread.
class FaultPoints {
 public:
  enum class Kind {
    kNone,
    kDisk,        // a write, truncation or sync of a file opened through FaultVfs
    kDiskRead,    // a read of one
    kCallBefore,  // a call of SQLite, which then does nothing
    kCallAfter,   // one that does what it should, and says it failed
    kMemory,      // an allocation of SQLite's
  };

  // The nth place of this kind from now on fails with that result code of SQLite's, n from 1; `repeats`: and so do all
  // behind it.
  static void Arm(Kind kind, int64_t nth, int code, bool repeats);
  // True: the place was reached.
  static bool Disarm();

  // Asked at a place: 0, or the code to fail with.
  static int Pass(Kind kind);
};

}  // namespace telemetry::storage
