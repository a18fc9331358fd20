#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/export/file_set.h"

namespace telemetry::exporter {

// Compresses, hashes and writes on a thread of its own, so that reading and rendering the dataset need not wait for it.
// One thread calls the methods; between construction and Finish nobody else touches the FileSet, which must live
// longer.
class WriteBehind {
 public:
  explicit WriteBehind(FileSet* files);
  // What was pushed and is not yet written may be lost: call Finish for what shall stay.
  ~WriteBehind();

  // Hands `text` over for the file with this suffix (which must outlive the object) and leaves an empty string in its
  // place. Waits while too much is queued. Returns the first error of any write so far; after one nothing is written.
  absl::Status Push(std::string_view suffix, std::string* text);

  // Waits until everything is written and ends the thread. The first error of any write.
  absl::Status Finish();

 private:
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
  std::vector<std::string> spare_ ABSL_GUARDED_BY(mutex_);  // written chunks: their memory is used again
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace telemetry::exporter
