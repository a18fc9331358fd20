#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/export/files/compressor.h"
#include "server/export/files/output_file.h"

namespace telemetry::exporter::files {

// A file of an export, as its snapshot describes it.
struct WrittenFile {
  std::string name;  // file name without its folder
  uint64_t size_bytes = 0;
  std::string sha256_hex;
};

// The files of one export. They are written as NAME.partial next to their final path, fsynced, and renamed at the end,
// BASE.snapshot.json last. Until Publish(), the files of an earlier export are unchanged. A set that is destroyed
// before Publish() removes its own files. Publish() also removes files of the earlier export that this export does not
// have.
//
// A folder offers no atomic rename of several files, so Publish() marks the base: BASE.incomplete is on disk from
// before the first rename until after the last one. If the process is killed, a step fails or the power is cut at any
// moment, then
//   - without BASE.incomplete, the files that BASE.snapshot.json names are all from one export, the old or the new one;
//   - with it, they may be from two exports, unless they have the sizes and SHA-256 in BASE.snapshot.json.
// The next successful export of the base replaces all files and removes the marker.
//
// Files that are not from an earlier export of the base are not replaced. These are the files that BASE.snapshot.json
// does not name, while there is no BASE.incomplete.
//
// BASE.snapshot.json.partial is locked from the beginning, so that two exports cannot write one base at the same time.
// Not thread-safe, but may be moved between threads.
class FileSet {
 public:
  // Locks the base. With `force`, any file may be replaced. Errors: INVALID_ARGUMENT if `base` names a folder,
  // UNAVAILABLE if another export is writing this base, NOT_FOUND if the folder does not exist, else those of
  // OutputFile::Create().
  static absl::StatusOr<std::unique_ptr<FileSet>> Create(const std::string& base, Compression compression,
                                                         bool force = false);

  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  // Appends text to the file base + suffix (+ the suffix of the compression). The first call for a file creates it.
  // Errors are those of OutputFile and of Publish(), the latter so that a long export fails early.
  absl::Status Append(std::string_view suffix, std::string_view text);

  // Completes and fsyncs all files, which keep their temporary names. Returns them ordered by name.
  absl::StatusOr<std::vector<WrittenFile>> Finish();

  // Renames all files and the snapshot to their final names, durably. Must be called once, after Finish(). Errors:
  // FAILED_PRECONDITION if a folder has one of the names, ALREADY_EXISTS if a file has one that is not from an earlier
  // export.
  absl::Status Publish(std::string_view snapshot_json);

 private:
  FileSet(std::string folder, std::string name, Compression compression);

  absl::Status Lock();
  // Determines the files that may be replaced.
  void RecogniseEarlier(bool force);
  absl::Status CheckTarget(const std::string& name) const;
  absl::Status CheckTargets() const;
  std::string SnapshotPath() const;
  std::string MarkerPath() const;
  absl::Status Mark(std::string_view snapshot_json);
  absl::Status RenameAll(const std::string& partial_snapshot);
  absl::Status Unmark();
  // Removes the files that a snapshot names and that this set does not have.
  absl::Status RemoveOthers(std::string_view snapshot_json);
  absl::Status SyncFolder() const;

  const std::string folder_;  // with a trailing '/'; empty: the working folder
  const std::string name_;    // base name without its folder
  const Compression compression_;
  bool may_replace_all_ = false;
  std::set<std::string, std::less<>> earlier_names_;  // files of the earlier export, including its snapshot
  int lock_fd_ = -1;
  int marker_fd_ = -1;  // locked while the base is marked, so that another export waits
  std::map<std::string, std::unique_ptr<OutputFile>, std::less<>> files_;  // by final name without folder
};

}  // namespace telemetry::exporter::files
