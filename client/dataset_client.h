#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::client {

struct DatasetClientOptions {
  std::string collector;  // HOST:PORT
  // What it is shown. The files are read again for each call.
  access::Credentials credentials;
  // For a whole call below, all of its pages together, the time to connect included.
  absl::Duration deadline = absl::Seconds(5);
};

// Asks a collector for what it knows, for producers that learn from it. Nothing is retried: who asks can do without.
// Thread-safe.
class DatasetClient {
 public:
  explicit DatasetClient(DatasetClientOptions options) : options_(std::move(options)) {}

  // The runs that the filter selects, in the order of run_id, at most `limit`. UNAVAILABLE: there is no collector.
  // DEADLINE_EXCEEDED: it did not answer in time. UNAUTHENTICATED, PERMISSION_DENIED: the credentials. Other errors are
  // DatasetService's; all of them name the collector.
  absl::StatusOr<std::vector<v1::RunSummary>> ListRuns(const v1::Filter& filter, size_t limit);
  // NOT_FOUND: it knows no such run. Other errors as above.
  absl::StatusOr<v1::RunSummary> GetRun(const std::string& run_id);
  // Hands over the items of DatasetService.Export in their order. An error of `take` ends the call and is the result;
  // other errors as above.
  absl::Status Export(const v1::ExportRequest& request, const std::function<absl::Status(const v1::ExportItem&)>& take);

 private:
  const DatasetClientOptions options_;
};

}  // namespace telemetry::client
