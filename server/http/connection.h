#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "server/access/tls_connection.h"
#include "server/http/http_server.h"
#include "server/http/origin_check.h"

namespace telemetry::http {

// The parts of a server that its connections share. Used by the thread of the io_context, except `handler`.
struct ConnectionContext {
  Limits limits;
  OriginCheck origins;
  Handler* handler = nullptr;
  size_t waiting_bytes = 0;  // of responses that are being sent
};

// Serves the requests of a connection until the connection ends. `context` must outlive the io_context's handlers.
// `tls` null: plaintext.
void ServeConnection(boost::asio::ip::tcp::socket socket, std::string network, const access::SslContext& tls,
                     ConnectionContext& context);

}  // namespace telemetry::http
