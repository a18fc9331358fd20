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
#include "proto/clock/periodic.h"
#include "server/access/authorizer.h"

namespace telemetry::access {

// A token file's tokens, as they are now: a thread looks each second whether the file has changed. A file that cannot
// be read any more leaves the tokens as they were, and says so in the log. Thread-safe.
class TokenWatch {
 public:
  // Errors as ReadTokens.
  static absl::StatusOr<std::unique_ptr<TokenWatch>> Open(const std::string& path);
  std::shared_ptr<const TokenSet> tokens() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `tick` each second from now on, after looking at the file: tokens may have changed or expired. Once only.
  void Start(std::function<void()> tick);
  // Returns when no tick is under way and none will come.
  void Stop();

 private:
  TokenWatch(std::string path, std::shared_ptr<const TokenSet> tokens, const struct stat& seen);
  void Refresh() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;
  struct stat seen_ = {};  // the watching thread's only
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenSet> tokens_ ABSL_GUARDED_BY(mutex_);
  std::optional<Periodic> looks_;  // last: it uses all of the above
};

}  // namespace telemetry::access
