#include "server/collector/metrics_port.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "proto/log/log.h"

namespace telemetry::collector {
namespace {

using http::Response;

Response Text(int status, std::string body) {
  return {.status = status, .content_type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(body)};
}

Response Refuse(const absl::Status& why) {
  const bool is_unknown = absl::IsUnauthenticated(why);
  Response response = Text(is_unknown ? 401 : 403, absl::StrCat(why.message(), "\n"));
  if (is_unknown) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsPort>> MetricsPort::Open(const MetricsPortOptions& options) {
  const http::Limits limits = {.connections = kConnections,
                               .head_bytes = kMaxHeadBytes,
                               .request_timeout = options.timeout,
                               .idle_timeout = absl::ZeroDuration(),
                               .send_timeout = options.timeout};
  // Scrapers may address the port by any name.
  ASSIGN_OR_RETURN(std::unique_ptr<http::HttpServer> server, http::HttpServer::Open({.address = options.address,
                                                                                     .purpose = "metrics",
                                                                                     .tls = options.tls,
                                                                                     .checks_names = false,
                                                                                     .limits = limits,
                                                                                     .on_lost = options.on_lost}));
  return std::unique_ptr<MetricsPort>(new MetricsPort(options.tokens, std::move(server)));
}

void MetricsPort::Start(ReadMetrics read_metrics) {
  read_metrics_ = std::move(read_metrics);
  server_->Start(this);
}

Response MetricsPort::Answer(const http::Request& request) {
  if (!request.is_read()) {
    Response response = Text(405, "");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (request.target.path != "/metrics") return Text(404, "the metrics are at /metrics\n");
  if (const absl::Status status = Allow(request.authorization); !status.ok()) return Refuse(status);
  return Text(200, read_metrics_());
}

absl::Status MetricsPort::Allow(const std::string& authorization) {
  if (tokens_ == nullptr) return absl::OkStatus();
  std::vector<std::string_view> values;
  if (!authorization.empty()) values.emplace_back(authorization);
  const auto token = access::Authorize(*tokens_->tokens(), access::kMetricsPage, values, absl::Now());
  uint64_t left_out = 0;
  if (!token.ok() && refusal_lines_.Take(SteadyNow(), &left_out)) {
    log::Warn("refused a request for the metrics", {{"reason", token.status().ToString()}, {"left_out", left_out}});
  }
  return token.status();
}

}  // namespace telemetry::collector
