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

// The configuration of a metrics port.
struct MetricsPortOptions {
  std::string address;  // HOST:PORT; port 0 selects a free port
  access::TlsFiles tls;
  // The tokens; a scrape then needs one with the role reader or admin. nullptr: scrapes need no token. Must outlive the
  // port.
  const access::TokenWatch* tokens = nullptr;
  // See net::AcceptorOptions::on_lost.
  std::function<void(const absl::Status&)> on_lost;
  // The longest time to read a request and send the response.
  absl::Duration timeout = absl::Seconds(10);
};

// Serves the metrics page over HTTP or HTTPS, with its own connection limits. One thread accepts connections; another
// one reads and responds, and never blocks on a client.
class MetricsPort {
 public:
  // The most open connections, in total and from one address.
  static constexpr net::ConnectionLimits kConnections = {.in_total = 32, .per_network = 16};

  // Returns the text of the metrics. Called on the thread that responds.
  using ReadMetrics = std::function<std::string()>;

  // Listens. Requests wait until Start. UNAVAILABLE: the port is in use or the address is invalid. INVALID_ARGUMENT:
  // see access::MakeServerCredentials.
  static absl::StatusOr<std::unique_ptr<MetricsPort>> Open(const MetricsPortOptions& options);
  // Calls Stop().
  ~MetricsPort();

  // Starts answering requests. Must be called once only.
  void Start(ReadMetrics read_metrics);

  int port() const { return acceptor_->port(); }
  // Closes the port and its connections. The metrics are not read after that.
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
  std::list<Conversation> conversations_;  // used by the thread only
  mutable absl::Mutex mutex_;
  std::vector<net::Socket> taken_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<net::Acceptor> acceptor_;
  std::thread thread_;
};

}  // namespace telemetry::collector
