#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/server_credentials.h"
#include "server/http/message.h"
#include "server/net/connection_table.h"

namespace telemetry::http {

// The limits of a server. Sizes are bytes.
struct Limits {
  net::ConnectionLimits connections = {.in_total = 512, .per_network = 128};
  uint32_t head_bytes = 16384;  // of a request, with its target
  uint64_t body_bytes = 4096;   // of a request
  // The most response bytes that wait for slow clients, in total; half of it for one network. A response that exceeds
  // it is replaced by 503.
  uint64_t waiting_bytes = uint64_t{64} << 20;
  absl::Duration request_timeout = absl::Seconds(10);  // for a request, once its first byte has arrived, and for TLS
  // Between two requests. Zero: the connection ends with each response.
  absl::Duration idle_timeout = absl::Seconds(60);
  absl::Duration send_timeout = absl::Seconds(20);  // to send the next Transport::kPieceBytes (256 KiB)
  absl::Duration close_timeout = absl::Seconds(2);  // for the client to disconnect after the last response
};

// The address of a server and the credentials that it uses.
struct ServerOptions {
  std::string address;            // HOST:PORT; port 0 selects a free port
  std::string purpose = "pages";  // for the message that the server cannot listen
  access::TlsFiles tls;
  // Refuses requests whose Host or Origin is another server. False for a server without pages and cookies, which may be
  // addressed by any name.
  bool checks_names = true;
  // Names of the server in Host headers, beside its address.
  std::vector<std::string> host_names;
  Limits limits;
  // See net::AcceptorOptions::on_lost.
  std::function<void(const absl::Status&)> on_lost;
};

// Serves HTTP/1.1, with or without TLS: reads requests within the limits, checks their Host and Origin, passes them to
// a handler and sends the responses. One thread accepts connections, another one reads and sends, and never blocks on a
// client.
class HttpServer {
 public:
  // Listens. Connections wait until Start. UNAVAILABLE: the port is in use or the address is invalid. INVALID_ARGUMENT:
  // see access::MakeServerCredentials.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Open(const ServerOptions& options);
  virtual ~HttpServer() = default;

  // Starts. `handler` must outlive the server. Must be called once only.
  virtual void Start(Handler* handler) = 0;
  virtual int port() const = 0;
  // Closes the port and its connections. No request is passed to the handler after that. The destructor calls it.
  virtual void Stop() = 0;
};

}  // namespace telemetry::http
