#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/proxy/proxy.h"
#include "tests/server/storage/temp_folder.h"

namespace telemetry::proxy {

// A proxy between writers and their PostgreSQL server that can cut a connection during a COMMIT. Thread-safe.
class CommitProxy {
 public:
  // The point at which the next COMMIT, on any connection, is cut. Only one COMMIT is cut.
  enum class Cut {
    kNone,
    kBefore,     // the COMMIT does not reach the server, which rolls back
    kMeanwhile,  // the server has received the COMMIT and may or may not complete it
    kAfter,      // the server has committed, but its response is lost
  };

  // `url` is that of a server with a Unix socket: host=FOLDER.
  explicit CommitProxy(const std::string& url);

  // Returns the URL that connects to the server through this proxy.
  const std::string& url() const { return url_; }
  void CutNext(Cut cut);
  // Returns the number of COMMITs that were cut.
  int cuts() const;
  // Blocks until `count` COMMITs were cut. Returns false if they were not within the timeout.
  bool AwaitCuts(int count, absl::Duration timeout) const;

 private:
  class Connection;
  // Returns the cut for the current COMMIT and resets it for later ones.
  Cut Take();

  const storage::TempFolder folder_;
  std::string server_socket_;
  std::string url_;
  mutable absl::Mutex mu_;
  Cut next_ ABSL_GUARDED_BY(mu_) = Cut::kNone;
  int cuts_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<Proxy> proxy_;
};

}  // namespace telemetry::proxy
