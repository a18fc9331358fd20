#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace telemetry::worker::forward {

// The folder of one process of the Python package: its file `writer` is locked with flock while the process lives and
// holds its origin; the other files are sidecars. The class keeps only the path. Safe to call from any thread.
class JobFolder {
 public:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}

  // Returns the folder of a file or of a base path, which may be no job folder.
  static JobFolder Of(const std::string& file);

  const std::string& path() const { return path_; }
  // Returns true if the path is a job folder.
  bool exists() const;
  // Returns true if the process that writes to the folder has ended, so that no more bytes will come.
  bool has_ended() const;
  // Returns the label of the CI job of the process. Empty: none, or it cannot be read.
  std::string origin() const;

  // Replaces the file `delivered`, which tells the process how many bytes of each of its files the collector has
  // acknowledged. Errors: those of the file system.
  absl::Status WriteDelivered(const std::map<std::string, uint64_t>& bytes) const;
  // Writes the file `spooled`: all records of the folder are durable in the forwarder's spool, the last one with number
  // `seq`, so that a later forwarder need not read the folder again. Errors: those of the file system.
  absl::Status WriteSpooled(uint64_t seq) const;
  // Returns the number in `spooled`. Unset: there is none.
  std::optional<uint64_t> spooled_seq() const;
  // Removes the folder with its files. Errors: those of the file system.
  absl::Status Remove() const;

 private:
  std::string path_;
};

// Returns the job folders directly below a folder, sorted by name.
std::vector<JobFolder> JobFoldersIn(const std::string& folder);

// The lock that orders the creation of job folders with the beginning and the end of a forwarder: a process that
// creates a job folder, and then finds the forwarder's spool in use, can rely on that forwarder. Not thread-safe.
class StartLock {
 public:
  // `folder` is the folder of the job folders.
  explicit StartLock(std::string folder) : path_(std::move(folder)) {}
  ~StartLock() { Release(); }
  StartLock(const StartLock&) = delete;
  StartLock& operator=(const StartLock&) = delete;

  // Blocks until the lock is free. Errors: those of the file system.
  absl::Status Acquire();
  void Release();

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace telemetry::worker::forward
