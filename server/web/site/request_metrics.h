#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"

namespace telemetry::web::site {

// Values that are read when the metrics are.
struct SiteState {
  uint64_t sessions = 0;
  uint64_t event_streams = 0;
  uint64_t waiting_calls = 0;
  int64_t summarised_attempts = 0;
  int64_t attempts = 0;
};

// The metrics of telemetry-web in the Prometheus text format. They contain no text of the dataset. Thread-safe.
class RequestMetrics {
 public:
  using ReadState = std::function<SiteState()>;

  explicit RequestMetrics(ReadState read_state);

  // Counts a response: its status, and the time from the request until the response was ready to be sent.
  void Count(int status, absl::Duration time);
  std::string Text() const;

 private:
  // Returns the counter of the responses with the class of this status.
  prometheus::Counter& Responses(int status);

  const ReadState read_state_;
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& responses_;
  prometheus::Histogram& seconds_;
};

}  // namespace telemetry::web::site
