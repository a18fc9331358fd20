#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/periodic.h"
#include "proto/base/steady.h"
#include "server/access/authorizer.h"
#include "server/access/file_stamp.h"

namespace telemetry::access {

// The current tokens of a file. A thread checks twice a second if the file has changed and then reads it, with retries
// until a read succeeds. Meanwhile the last tokens stay valid; after a minute without success new calls are refused.
// Thread-safe.
class TokenWatch {
 public:
  using Clock = std::function<SteadyTime()>;

  // Reads the file. Errors: those of ReadTokens.
  static absl::StatusOr<std::unique_ptr<TokenWatch>> Open(const std::string& path, Clock clock = &SteadyNow);
  std::shared_ptr<const TokenSet> tokens() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the time since the file could last be read, or zero if the last look succeeded.
  absl::Duration UnreadableFor() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns UNAVAILABLE if the file has been unreadable for more than a minute, because a revoked token might still be
  // accepted.
  absl::Status CheckReadable() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Checks the file once. Must be called by one thread at a time, and after Start only by the watch's own thread.
  void Look() ABSL_LOCKS_EXCLUDED(mutex_);
  // Starts the thread, which calls `tick` after each look: tokens may have changed or expired. Must be called once
  // only.
  void Start(std::function<void()> tick);
  // Ends the thread. On return no call of `tick` is running, and none will follow.
  void Stop();

 private:
  TokenWatch(std::string path, Clock clock, std::shared_ptr<const TokenSet> tokens,
             const std::optional<FileStamp>& read);
  void SetGood(std::shared_ptr<const TokenSet> fresh) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;
  const Clock clock_;
  std::optional<FileStamp> read_;  // of the file that tokens_ was read from; used only by Look
  bool failure_logged_ = false;    // true after the first failure since the last success
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenSet> tokens_ ABSL_GUARDED_BY(mutex_);
  SteadyTime last_good_ ABSL_GUARDED_BY(mutex_);
  bool readable_ ABSL_GUARDED_BY(mutex_) = true;
  std::optional<Periodic> looks_;  // last member: its thread uses all of the above
};

}  // namespace telemetry::access
