#pragma once

#include <poll.h>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/access/server_credentials.h"
#include "server/access/token_watch.h"
#include "server/net/acceptor.h"
#include "server/net/socket.h"

namespace telemetry::collector {

struct MetricsPortOptions {
  std::string address;  // HOST:PORT, where port 0 takes a free one
  access::TlsFiles tls;
  // Tokens that a scrape needs, with the role reader or admin; nullptr: none. Outlives the port.
  const access::TokenWatch* tokens = nullptr;
  // As net::AcceptorOptions::on_lost.
  std::function<void(const absl::Status&)> on_lost;
  // A request has to be read and answered within it.
  absl::Duration timeout = absl::Seconds(10);
};

// Serves the metrics page over HTTP, or HTTPS, with limits of its own for connections. One thread accepts, another
// reads and answers without waiting for any client.
class MetricsPort {
 public:
  // Connections at a time, in total and from one address.
  static constexpr net::ConnectionLimits kConnections = {.in_total = 32, .per_network = 16};

  // Returns the text of the metrics. Called on the port's thread.
  using ReadMetrics = std::function<std::string()>;

  // Listens; requests wait until Start. UNAVAILABLE: the port is in use or no address. INVALID_ARGUMENT: as
  // access::MakeServerCredentials.
  static absl::StatusOr<std::unique_ptr<MetricsPort>> Open(const MetricsPortOptions& options);
  // As Stop.
  ~MetricsPort();

  // Answers from now on. Once only.
  void Start(ReadMetrics read_metrics);

  int port() const { return acceptor_->port(); }
  // Closes the port and its connections. Afterwards nobody reads the metrics any more.
  void Stop();

 private:
  class Conversation;

  MetricsPort(const MetricsPortOptions& options, std::unique_ptr<net::Acceptor> acceptor);
  void Take(int fd) ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() const;
  void Run();
  void BeginTaken() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<pollfd> Wanted() const;
  int WaitMs() const;
  absl::Status Allow(const std::vector<std::string_view>& authorization);
  std::string Answer(std::string_view head);

  const MetricsPortOptions options_;
  ReadMetrics read_metrics_;
  const net::Socket wake_;
  access::LogLimit refusal_lines_;
  std::list<Conversation> conversations_;  // the thread's only
  mutable absl::Mutex mutex_;
  std::vector<net::Socket> taken_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<net::Acceptor> acceptor_;
  std::thread thread_;
};

}  // namespace telemetry::collector
