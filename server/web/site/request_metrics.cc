#include "server/web/site/request_metrics.h"

#include <prometheus/text_serializer.h>

#include <string>
#include <utility>
#include <vector>

namespace telemetry::web::site {
namespace {

using prometheus::MetricFamily;

const prometheus::Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};

MetricFamily Gauge(const char* name, const char* help, double value) {
  MetricFamily family{.name = name, .help = help, .type = prometheus::MetricType::Gauge};
  family.metric.emplace_back().gauge.value = value;
  return family;
}

}  // namespace

RequestMetrics::RequestMetrics(ReadState read_state)
    : read_state_(std::move(read_state)),
      responses_(prometheus::BuildCounter()
                     .Name("telemetry_web_responses_total")
                     .Help("Responses, by the class of their status")
                     .Register(registry_)),
      seconds_(prometheus::BuildHistogram()
                   .Name("telemetry_web_response_seconds")
                   .Help("Time from a request until its response was ready")
                   .Register(registry_)
                   .Add({}, kSeconds)) {
  // Prometheus sees the first error only if the counter has been 0 before.
  for (const int status : {200, 300, 400, 500}) Responses(status);
}

prometheus::Counter& RequestMetrics::Responses(int status) {
  return responses_.Add({{"class", std::to_string(status / 100) + "xx"}});
}

void RequestMetrics::Count(int status, absl::Duration time) {
  Responses(status).Increment();
  seconds_.Observe(absl::ToDoubleSeconds(time));
}

std::string RequestMetrics::Text() const {
  const SiteState state = read_state_();
  std::vector<MetricFamily> families = registry_.Collect();
  families.push_back(Gauge("telemetry_web_sessions", "Signed-in browsers", static_cast<double>(state.sessions)));
  families.push_back(Gauge("telemetry_web_event_streams", "Open streams of server-sent events",
                           static_cast<double>(state.event_streams)));
  families.push_back(Gauge("telemetry_web_waiting_calls", "Calls of the API that wait for a thread",
                           static_cast<double>(state.waiting_calls)));
  families.push_back(Gauge("telemetry_web_summarised_attempts", "Attempts of the dataset that the summaries contain",
                           static_cast<double>(state.summarised_attempts)));
  families.push_back(Gauge("telemetry_web_attempts", "Attempts of the dataset", static_cast<double>(state.attempts)));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace telemetry::web::site
