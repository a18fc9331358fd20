#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/proxy/proxy.h"
#include "tests/server/storage/temp_folder.h"

namespace telemetry::proxy {

// Stands between writers and their PostgreSQL server, and can lose a connection while a transaction is committed.
// Thread-safe.
class CommitProxy {
 public:
  // What becomes of the next COMMIT that goes through, on any connection; one is cut.
  enum class Cut {
    kNone,
    kBefore,     // it does not reach the server, which rolls back
    kMeanwhile,  // the server has it, and may or may not be through
    kAfter,      // the server has committed, and nobody is told
  };

  // `url`: of a server that is reached by a socket: host=FOLDER.
  explicit CommitProxy(const std::string& url);

  // The same url with this in between.
  const std::string& url() const { return url_; }
  void CutNext(Cut cut);
  // How many were.
  int cuts() const;
  // Until as many were cut. False: not within the time.
  bool AwaitCuts(int count, absl::Duration timeout) const;

 private:
  class Connection;
  // What becomes of this COMMIT.
  Cut Take();

  const storage::TempFolder folder_;
  std::string server_socket_;
  std::string url_;
  mutable absl::Mutex mutex_;
  Cut next_ ABSL_GUARDED_BY(mutex_) = Cut::kNone;
  int cuts_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<Proxy> proxy_;
};

}  // namespace telemetry::proxy
