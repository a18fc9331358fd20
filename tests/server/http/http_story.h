#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/http/http_server.h"
#include "tests/server/http/http_client.h"

namespace telemetry::http {

// A server on a free port of this machine, whose handler is a function.
class HttpStory : private Handler {
 public:
  using Answer = std::function<void(const Request& request, const Respond& respond)>;

  // The default handler returns "hello".
  explicit HttpStory(ServerOptions options = {});
  HttpStory(ServerOptions options, Answer answer);

  HttpServer& server() { return *server_; }
  int port() const { return server_->port(); }
  // Ends the server; later calls of `respond` go nowhere.
  void Destroy() { server_.reset(); }

  HttpClient Connect(uint32_t host = 1) const { return HttpClient(port(), host); }
  // Sends bytes on a connection of its own and returns everything that comes back.
  std::string Exchange(std::string_view bytes, uint32_t host = 1) const;

 private:
  void Handle(Request request, Respond respond) override { answer_(request, respond); }

  const Answer answer_;
  std::unique_ptr<HttpServer> server_;
};

// Returns the head of a GET request with these further headers, each of which ends with a line break.
std::string Get(std::string_view target, std::string_view headers = "Host: localhost\r\n");

// Returns a response with this body.
Response TextResponse(std::string body);

}  // namespace telemetry::http
