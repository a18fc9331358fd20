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

namespace telemetry::storage::sqlite {

// A disk in memory, as a SQLite VFS, whose power can be cut: each sector that was written but not synced survives at
// random. The disk can also fail fsyncs or ignore them. For one connection at a time. Thread-safe.
class PowerCutVfs {
 public:
  // Registers the VFS as `name`, which must be unique in the process.
  explicit PowerCutVfs(const std::string& name);
  ~PowerCutVfs();
  PowerCutVfs(const PowerCutVfs&) = delete;
  PowerCutVfs& operator=(const PowerCutVfs&) = delete;

  const std::string& name() const { return name_; }

  // Cuts the power after `operations` more writes and fsyncs: from then on everything fails.
  void CutAfter(int64_t operations) ABSL_LOCKS_EXCLUDED(mutex_);
  // Restores the power. Each sector of each unsynced write has reached the disk with probability 1/2, earlier writes
  // first.
  void Restore(std::mt19937_64& random) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes every fsync fail, without syncing anything.
  void FailSyncs() ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes every fsync succeed, without syncing anything.
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
    std::string live;     // contents that a reader sees
    std::string durable;  // contents that certainly survive a power cut
    std::vector<Operation> unsynced;
    std::map<int, std::unique_ptr<char[]>> shared_memory;
  };

  static void Apply(const Operation& operation, std::string* bytes);
  // Counts an operation. Returns false if the power is cut.
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

}  // namespace telemetry::storage::sqlite
