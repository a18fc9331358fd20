#pragma once

#include <sys/stat.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/periodic.h"
#include "proto/clock/steady.h"
#include "server/access/authorizer.h"

namespace telemetry::access {

// The tokens of a file, as they are now. A thread looks twice a second whether the file has changed, and reads it again
// until that succeeds. Meanwhile the tokens stay as they were; after a minute without success nobody new is let in.
// Thread-safe.
class TokenWatch {
 public:
  using Clock = std::function<SteadyTime()>;

  // Errors as ReadTokens.
  static absl::StatusOr<std::unique_ptr<TokenWatch>> Open(const std::string& path, Clock clock = &SteadyNow);
  std::shared_ptr<const TokenSet> tokens() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns for how long it has not been known what the file holds; zero: the last look succeeded.
  absl::Duration UnreadableFor() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns OK, or UNAVAILABLE: the file has been unreadable for more than a minute, so that a token which was
  // revoked might still count.
  absl::Status CheckReadable() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Looks at the file once. One thread at a time; after Start only its thread.
  void Look() ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls `tick` after each look from now on: tokens may have changed or expired. Once only.
  void Start(std::function<void()> tick);
  // Returns when no tick is under way and none will come.
  void Stop();

 private:
  TokenWatch(std::string path, Clock clock, std::shared_ptr<const TokenSet> tokens, const struct stat& read);
  void SetGood(std::shared_ptr<const TokenSet> fresh) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;
  const Clock clock_;
  struct stat read_ = {};        // the file that tokens_ are from; used by whoever looks
  bool failure_logged_ = false;  // of the failures since the last success
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenSet> tokens_ ABSL_GUARDED_BY(mutex_);
  SteadyTime last_good_ ABSL_GUARDED_BY(mutex_);
  bool readable_ ABSL_GUARDED_BY(mutex_) = true;
  std::optional<Periodic> looks_;  // last: it uses all of the above
};

}  // namespace telemetry::access
