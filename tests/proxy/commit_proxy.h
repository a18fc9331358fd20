#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/proxy/proxy.h"
#include "tests/temp_folder.h"

namespace telemetry::proxy {

// A proxy between writers and their PostgreSQL server that can cut a connection while a transaction is committed.
// Thread-safe.
class CommitProxy {
 public:
  // The moment at which the connection of the next COMMIT is cut.
  enum class Cut {
    kNone,
    kBefore,     // it does not reach the server, which rolls back
    kMeanwhile,  // the server has received it, and may or may not have committed
    kAfter,      // the server has committed, but its client receives no answer
  };

  // `url` names a server with a Unix socket: host=FOLDER.
  explicit CommitProxy(const std::string& url);

  // Returns the url of the same database through this proxy.
  const std::string& url() const { return url_; }
  void CutNext(Cut cut);
  // Returns the number of connections cut so far.
  int cuts() const;
  // Blocks until `count` connections were cut. Returns false after the timeout.
  bool AwaitCuts(int count, absl::Duration timeout) const;

 private:
  class Connection;
  // Returns the fate of the current COMMIT and resets it for the next.
  Cut Take();

  const TempFolder folder_;
  std::string server_socket_;
  std::string url_;
  mutable absl::Mutex mutex_;
  Cut next_ ABSL_GUARDED_BY(mutex_) = Cut::kNone;
  int cuts_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<Proxy> proxy_;
};

}  // namespace telemetry::proxy
