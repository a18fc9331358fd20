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
#include "server/export/compressor.h"
#include "server/export/output_file.h"

namespace telemetry::exporter {

// A file of an export as its snapshot names it.
struct WrittenFile {
  std::string name;  // without its folder
  uint64_t size_bytes = 0;
  std::string sha256_hex;
};

// The files of one export. They are written as NAME.partial beside their final place, forced to disk, and renamed at
// the very end, BASE.snapshot.json last. Until Publish the files of an earlier export stand untouched; a set that is
// destroyed before Publish removes its own files. Publish also removes the files of an earlier export that this export
// does not have.
//
// A folder has no rename of several files at once, so Publish marks the base: BASE.incomplete is on disk from before
// the first rename until after the last one. Whenever a process is killed, a step fails or the power goes:
//   - without BASE.incomplete, the files that BASE.snapshot.json names are all of one export, the old or the new one;
//   - with it, they may be of two exports, unless they have the sizes and SHA-256 that BASE.snapshot.json gives.
// The next export of the base that succeeds replaces all files and removes the marker.
//
// Files that no earlier export of the base has made are not replaced: those that BASE.snapshot.json does not name,
// while there is no BASE.incomplete.
//
// BASE.snapshot.json.partial is locked from the beginning, so two exports cannot write one base at the same time. Not
// thread-safe, but may move from one thread to another.
class FileSet {
 public:
  // force: replace any file. INVALID_ARGUMENT: `base` names a folder. UNAVAILABLE: another export is writing this base.
  // NOT_FOUND: there is no such folder. Others as OutputFile::Create.
  static absl::StatusOr<std::unique_ptr<FileSet>> Create(const std::string& base, Compression compression,
                                                         bool force = false);

  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  // Adds text to the file base + suffix (+ the suffix of the compression), which the first call for it makes.
  // Errors as OutputFile's and, so that a long export fails early, Publish's.
  absl::Status Append(std::string_view suffix, std::string_view text);

  // Ends all files: they are complete, on disk, and still under temporary names. In the order of their names.
  absl::StatusOr<std::vector<WrittenFile>> Finish();

  // Gives all files and the snapshot their names, durably. Call after Finish, once. FAILED_PRECONDITION: a folder has
  // one of the names. ALREADY_EXISTS: a file that is not an earlier export's has.
  absl::Status Publish(std::string_view snapshot_json);

 private:
  FileSet(std::string folder, std::string name, Compression compression);

  absl::Status Lock();
  // Finds out which files may be replaced.
  void RecogniseEarlier(bool force);
  absl::Status CheckTarget(const std::string& name) const;
  absl::Status CheckTargets() const;
  std::string SnapshotPath() const;
  std::string MarkerPath() const;
  absl::Status Mark(std::string_view snapshot_json);
  absl::Status RenameAll(const std::string& partial_snapshot);
  absl::Status Unmark();
  // Removes the files that a snapshot names and this set does not have.
  absl::Status RemoveOthers(std::string_view snapshot_json);
  absl::Status SyncFolder() const;

  const std::string folder_;  // with its last '/'; empty: the working folder
  const std::string name_;    // the base without its folder
  const Compression compression_;
  bool may_replace_all_ = false;
  std::set<std::string, std::less<>> earlier_names_;  // of the files of the earlier export, its snapshot included
  int lock_fd_ = -1;
  int marker_fd_ = -1;  // locked while the base is marked: another export waits for it
  std::map<std::string, std::unique_ptr<OutputFile>, std::less<>> files_;  // by final name, without folder
};

}  // namespace telemetry::exporter
