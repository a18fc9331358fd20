#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "tests/server/storage/temp_folder.h"

namespace telemetry::storage {

// Stands between a writer and its PostgreSQL server, and can lose the connection while a transaction is committed.
class CommitProxy {
 public:
  // What becomes of the next COMMIT that goes through; it is cut once.
  enum class Cut {
    kNone,
    kBefore,  // it does not reach the server, which rolls back
    kAfter,   // the server has committed, and nobody is told
  };

  // `url`: of a server that is reached by a socket; its connections go through one at a time.
  explicit CommitProxy(const std::string& url);
  ~CommitProxy();
  CommitProxy(const CommitProxy&) = delete;
  CommitProxy& operator=(const CommitProxy&) = delete;

  const std::string& url() const { return url_; }
  void CutNext(Cut cut) { cut_ = cut; }
  // How many were.
  int cuts() const { return cuts_; }

 private:
  void Serve();
  // Passes on what the two say until one of them is gone, or is cut off.
  void Forward(int client, int server);

  const TempFolder folder_;
  std::string server_socket_;
  std::string url_;
  int listener_ = -1;
  std::atomic<Cut> cut_ = Cut::kNone;
  std::atomic<int> cuts_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace telemetry::storage
