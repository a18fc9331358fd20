#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/gate.h"
#include "server/access/server_credentials.h"
#include "server/access/token_watch.h"
#include "server/http/http_server.h"
#include "server/http/message.h"

namespace telemetry::collector {

// The address of the metrics port and the credentials that it requires.
struct MetricsPortOptions {
  std::string address;  // HOST:PORT; port 0 selects a free port
  access::TlsFiles tls;
  // The tokens; a scrape then needs one with the role reader or admin. nullptr: scrapes need no token. Must outlive the
  // port.
  const access::TokenWatch* tokens = nullptr;
  // See net::AcceptorOptions::on_lost.
  std::function<void(const absl::Status&)> on_lost;
  // The longest time to read a request, and to send the next part of the response.
  absl::Duration timeout = absl::Seconds(10);
};

// Serves the metrics page over HTTP or HTTPS, with its own connection limits. Each connection ends with its response.
class MetricsPort : private http::Handler {
 public:
  // The most open connections, in total and from one address.
  static constexpr net::ConnectionLimits kConnections = {.in_total = 32, .per_network = 16};
  // The longest request head that is read.
  static constexpr uint32_t kMaxHeadBytes = 8192;

  // Returns the text of the metrics. Called on the thread that responds.
  using ReadMetrics = std::function<std::string()>;

  // Listens. Requests wait until Start. Errors: see http::HttpServer::Open.
  static absl::StatusOr<std::unique_ptr<MetricsPort>> Open(const MetricsPortOptions& options);

  // Starts answering requests. Must be called once only.
  void Start(ReadMetrics read_metrics);

  int port() const { return server_->port(); }
  // Closes the port and its connections. The metrics are not read after that. The destructor calls it.
  void Stop() { server_->Stop(); }

 private:
  MetricsPort(const access::TokenWatch* tokens, std::unique_ptr<http::HttpServer> server)
      : tokens_(tokens), server_(std::move(server)) {}
  void Handle(http::Request request, Respond respond) override { respond(Answer(request)); }
  http::Response Answer(const http::Request& request);
  absl::Status Allow(const std::string& authorization);

  const access::TokenWatch* const tokens_;
  ReadMetrics read_metrics_;
  access::LogLimit refusal_lines_;
  const std::unique_ptr<http::HttpServer> server_;  // last member: its thread uses all of the above
};

}  // namespace telemetry::collector
