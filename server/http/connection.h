#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/http/connection_context.h"
#include "server/http/message.h"
#include "server/http/request_parser.h"
#include "server/http/transport.h"

namespace telemetry::http {

// Serves the requests of a connection, one after the other, until it ends. A pending operation keeps the connection
// alive. Used by the thread of the queue only.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `context` must outlive the connection. `network`: of the client.
  Connection(std::unique_ptr<Transport> transport, std::string network, ConnectionContext& context);

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Start();

 private:
  class Answer;

  // Waits up to `wait` for the first byte of a request.
  void ReadRequest(absl::Duration wait);
  void ReadMore(SteadyTime deadline);
  // Parses the bytes that have arrived. `deadline`: for the end of the request.
  void Parse(SteadyTime deadline);
  void Continue(SteadyTime deadline);
  void OnRequest();
  absl::Status Check(const Request& request) const;
  void Pass(Request request);
  void Send(Response response);
  void Write();
  void OnSent(bool has_body);
  void CloseStream();
  void Release();

  const std::string network_;
  ConnectionContext& context_;
  std::unique_ptr<Transport> transport_;
  RequestParser parser_;
  bool keep_alive_ = false;
  bool is_head_ = false;      // the request is HEAD
  bool is_http_1_0_ = false;  // the request is HTTP/1.0
  Response response_;
  std::string head_;
  uint64_t waiting_ = 0;  // taken from context_.waiting_bytes
};

}  // namespace telemetry::http
