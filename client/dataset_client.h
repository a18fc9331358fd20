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

// The collector to query and the limits of a query.
struct DatasetClientOptions {
  std::string collector;  // HOST:PORT
  // Credentials for the collector. The files are read again for each call.
  access::Credentials credentials;
  // Limit for one call of a method below: connecting and all pages together.
  absl::Duration deadline = absl::Seconds(5);
};

// A client of DatasetService for producers that use stored results. It never retries, because its callers can work
// without the answer. Thread-safe.
class DatasetClient {
 public:
  explicit DatasetClient(DatasetClientOptions options) : options_(std::move(options)) {}

  // Returns the runs that the filter selects, at most `limit`, ordered by run_id. Errors: UNAVAILABLE if the collector
  // cannot be reached, DEADLINE_EXCEEDED if it does not answer in time, UNAUTHENTICATED or PERMISSION_DENIED if it
  // refuses the credentials, else the error of DatasetService. Every message names the collector.
  absl::StatusOr<std::vector<v1::RunSummary>> ListRuns(const v1::Filter& filter, size_t limit);
  // Returns one run. Errors: NOT_FOUND if the collector has no such run, else as for ListRuns().
  absl::StatusOr<v1::RunSummary> GetRun(const std::string& run_id);
  // Calls `take` for each item of DatasetService.Export, in order. An error of `take` ends the call and is returned.
  // Other errors as for ListRuns().
  absl::Status Export(const v1::ExportRequest& request, const std::function<absl::Status(const v1::ExportItem&)>& take);

 private:
  const DatasetClientOptions options_;
};

}  // namespace telemetry::client
