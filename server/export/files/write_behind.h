#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/export/files/file_set.h"

namespace telemetry::exporter::files {

// A thread that compresses, hashes and writes, so that reading and rendering the dataset need not wait. One thread
// calls the methods. Between construction and Finish() no other code may use the FileSet, which must outlive this
// object.
class WriteBehind {
 public:
  explicit WriteBehind(FileSet* files);
  // Discards chunks that are not written yet. Call Finish() first to keep them.
  ~WriteBehind();

  // Queues `text` for the file with this suffix and leaves an empty string in its place. The suffix must outlive the
  // object. Blocks while too many chunks are queued. Returns the first error of any write so far; after an error
  // nothing is written.
  absl::Status Push(std::string_view suffix, std::string* text);

  // Blocks until everything is written, and ends the thread. Returns the first error of any write.
  absl::Status Finish();

 private:
  // A text and the suffix of its file.
  struct Chunk {
    std::string_view suffix;
    std::string text;
  };

  static constexpr size_t kMaxQueued = 8;

  void Run();
  void Stop();
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return queue_.size() < kMaxQueued || !status_.ok(); }
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !queue_.empty() || done_; }

  FileSet* const files_;
  absl::Mutex mutex_;
  std::deque<Chunk> queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> spare_ ABSL_GUARDED_BY(mutex_);  // buffers of written chunks, for reuse
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace telemetry::exporter::files
