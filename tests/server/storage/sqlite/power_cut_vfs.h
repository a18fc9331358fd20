#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

struct sqlite3_vfs;

namespace telemetry::storage {

// A disk in memory, as a SQLite VFS, whose power can be cut: what was written but not synced survives sector by sector,
// or not at all, as chance has it. It can also fail its syncs, or ignore them. For one connection at a time.
// Thread-safe.
class PowerCutVfs {
 public:
  // `name` is what connections open it under; it must be unique in the process.
  explicit PowerCutVfs(const std::string& name);
  ~PowerCutVfs();
  PowerCutVfs(const PowerCutVfs&) = delete;
  PowerCutVfs& operator=(const PowerCutVfs&) = delete;

  const std::string& name() const { return name_; }

  // After so many more writes and syncs the power is gone: everything fails.
  void CutAfter(int64_t operations) ABSL_LOCKS_EXCLUDED(mutex_);
  // Power is back: each sector of each unsynced write has made it to the disk with even chance, earlier ones first.
  void Restore(std::mt19937_64& random) ABSL_LOCKS_EXCLUDED(mutex_);

  // From now on every sync fails, and syncs nothing.
  void FailSyncs() ABSL_LOCKS_EXCLUDED(mutex_);
  // From now on every sync succeeds, and syncs nothing.
  void IgnoreSyncs() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend struct PowerCutFile;

  // A write of data at offset, or a truncation to offset.
  struct Operation {
    bool truncate;
    uint64_t offset;
    std::string data;
  };
  struct Disk {
    std::string live;     // what a reader sees
    std::string durable;  // what a power cut leaves for certain
    std::vector<Operation> unsynced;
    std::map<int, std::unique_ptr<char[]>> shared_memory;
  };

  static void Apply(const Operation& operation, std::string* bytes);
  // False: the power is gone.
  bool Spend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int Read(const std::string& file, void* to, int size, int64_t offset) ABSL_LOCKS_EXCLUDED(mutex_);
  int Change(const std::string& file, Operation operation) ABSL_LOCKS_EXCLUDED(mutex_);
  int Sync(const std::string& file) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;

  mutable absl::Mutex mutex_;
  std::map<std::string, Disk> disks_ ABSL_GUARDED_BY(mutex_);
  int64_t operations_left_ ABSL_GUARDED_BY(mutex_);
  bool fail_syncs_ ABSL_GUARDED_BY(mutex_) = false;
  bool ignore_syncs_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace telemetry::storage
