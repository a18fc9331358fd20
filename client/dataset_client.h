#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "telemetry/v1/dataset.grpc.pb.h"

namespace telemetry::client {

struct DatasetClientOptions {
  std::string collector;  // HOST:PORT
  // For a whole call below, all of its pages together, the time to connect included.
  absl::Duration deadline = absl::Seconds(5);
};

// Asks a collector for what it knows, for producers that learn from it. Nothing is retried: who asks can do without.
// Thread-safe.
class DatasetClient {
 public:
  // Does not connect yet.
  explicit DatasetClient(DatasetClientOptions options);

  // The runs that the filter selects, in the order of run_id, at most `limit`. UNAVAILABLE: there is no collector.
  // DEADLINE_EXCEEDED: it did not answer in time. Other errors are DatasetService's; all of them name the collector.
  absl::StatusOr<std::vector<v1::RunSummary>> ListRuns(const v1::Filter& filter, size_t limit);
  // NOT_FOUND: it knows no such run. Other errors as above.
  absl::StatusOr<v1::RunSummary> GetRun(const std::string& run_id);
  // Hands over the items of DatasetService.Export in their order. An error of `take` ends the call and is the result;
  // other errors as above.
  absl::Status Export(const v1::ExportRequest& request, const std::function<absl::Status(const v1::ExportItem&)>& take);

 private:
  const DatasetClientOptions options_;
  const std::unique_ptr<v1::DatasetService::Stub> stub_;
};

}  // namespace telemetry::client
