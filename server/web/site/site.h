#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "server/http/message.h"
#include "server/web/calls/call_handler.h"
#include "server/web/events/event_hub.h"
#include "server/web/session/session_store.h"
#include "server/web/site/request_metrics.h"

namespace telemetry::web::site {

// The name of the cookie of a session.
inline constexpr std::string_view kCookie = "telemetry_session";

// The addresses of telemetry-web:
//
//   /api/v1/session    the reader that is signed in; signing in and out
//   /api/v1/events     server-sent events
//   /api/v1/...        the other calls of openapi.yaml
//   /assets/...        the files of the pages
//   /metrics           Prometheus metrics, for tokens with the role reader
//   /healthz           "ok", for everybody
//   everything else    the page, which shows the view that the address names
class Site final : public http::Handler {
 public:
  // All must outlive the site.
  struct Parts {
    session::SessionStore& sessions;
    calls::CallHandler& calls;
    events::EventHub& events;
    RequestMetrics& metrics;
  };
  explicit Site(const Parts& parts) : parts_(parts) {}

  void Handle(http::Request request, Respond respond) override;

 private:
  void HandleApi(http::Request request, const Respond& respond);
  http::Response HandleSession(const http::Request& request);
  http::Response SignIn(const http::Request& request);
  http::Response SignOut(const http::Request& request);
  http::Response OpenEvents(const http::Request& request, const session::Credentials& credentials);
  http::Response Metrics(const http::Request& request);

  const Parts parts_;
};

}  // namespace telemetry::web::site
