#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/access/credentials.h"
#include "proto/base/periodic.h"
#include "proto/base/steady.h"
#include "server/access/token_watch.h"
#include "server/http/http_server.h"
#include "server/storage/sqlite/scratch_file.h"
#include "server/web/calls/call_handler.h"
#include "server/web/events/event_hub.h"
#include "server/web/server_state.h"
#include "server/web/session/session_store.h"
#include "server/web/site/request_metrics.h"
#include "server/web/site/site.h"
#include "server/web/upkeep/summary_loop.h"

namespace telemetry::web::program {

// The dataset, the port and the credentials of a server.
struct WebServerOptions {
  std::string db;
  http::ServerOptions http;
  std::string tokens;       // file; empty: everybody may read
  std::string scratch_dir;  // folder of the file of summaries; empty: the system's
  std::vector<std::string> collectors;
  access::Credentials collector_credentials;
};

// The pages and the API of a dataset, with the threads that keep them up to date.
class WebServer {
 public:
  // Opens the dataset and the port, and serves. Errors: those of OpenReader, HttpServer::Open, TokenWatch::Open and
  // ScratchFile::Create.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(const WebServerOptions& options);
  // Closes the port, and waits for the calls that are being answered.
  ~WebServer();

  int port() const { return http_->port(); }

 private:
  explicit WebServer(WebServerOptions options) : options_(std::move(options)) {}

  absl::Status Open();
  calls::Sources Sources() const;
  site::SiteState ReadState() const;
  void CountSizes();
  void AskCollectors();

  const WebServerOptions options_;
  std::unique_ptr<access::TokenWatch> tokens_;  // nullptr: none
  std::unique_ptr<storage::sqlite::ScratchFile> scratch_;
  std::optional<ServerState> state_;
  std::optional<session::SessionStore> sessions_;
  events::EventHub events_;
  std::optional<calls::CallHandler> calls_;
  std::optional<site::RequestMetrics> metrics_;
  std::optional<site::Site> site_;
  std::unique_ptr<http::HttpServer> http_;
  // Threads that use the above.
  std::optional<upkeep::SummaryLoop> summaries_;
  SteadyTime next_sizes_ = kLongAgo;   // used by sizes_ only
  SteadyTime next_health_ = kLongAgo;  // used by health_ only
  std::optional<Periodic> sizes_;
  std::optional<Periodic> health_;
};

}  // namespace telemetry::web::program
