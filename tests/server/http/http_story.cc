#include "tests/server/http/http_story.h"

#include <gtest/gtest.h>

#include <utility>

#include "proto/record/strings.h"

namespace telemetry::http {

HttpStory::HttpStory(ServerOptions options)
    : HttpStory(std::move(options),
                [](const Request& /*request*/, const Respond& respond) { respond(TextResponse("hello")); }) {}

HttpStory::HttpStory(ServerOptions options, Answer answer) : answer_(std::move(answer)) {
  if (options.address.empty()) options.address = "127.0.0.1:0";
  auto server = HttpServer::Open(options);
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  server_->Start(this);
}

std::string HttpStory::Exchange(std::string_view bytes, uint32_t host) const {
  HttpClient client = Connect(host);
  client.Send(bytes);
  return client.ReadAll();
}

std::string Get(std::string_view target, std::string_view headers) {
  return record::Cat("GET ", target, " HTTP/1.1\r\n", headers, "\r\n");
}

Response TextResponse(std::string body) { return {.body = std::move(body)}; }

}  // namespace telemetry::http
