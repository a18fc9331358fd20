#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/models.grpc.pb.h"

namespace telemetry::client {

// The collector that stores the models, and the limits of a call.
struct ModelClientOptions {
  std::string collector;  // HOST:PORT
  // Credentials for the collector. The files are read by Connect.
  access::Credentials credentials;
  // Limit for one call: connecting and the answer. A list has this time for each page, a model for each part of 1 MiB.
  absl::Duration deadline = absl::Seconds(5);
  // The longest total pause of Store(), which waits when the collector asks it to.
  absl::Duration patience = absl::Minutes(1);
};

// A client of ModelService. Only Store() retries. Not thread-safe.
class ModelClient {
 public:
  // Does not connect yet. Returns the errors of access::Connection::Prepare.
  static absl::StatusOr<std::unique_ptr<ModelClient>> Open(ModelClientOptions options);

  // Errors of all methods: UNAVAILABLE if the collector cannot be reached, DEADLINE_EXCEEDED if it does not answer in
  // time, UNAUTHENTICATED or PERMISSION_DENIED if it refuses the credentials, UNIMPLEMENTED if it is older than the
  // service, else those of ModelService. Every message names the collector.

  // Stores the file of a model. `removed` of the result is the number of older models that made room. ABORTED: another
  // program with the same sender's name stores models at the same time.
  absl::StatusOr<v1::PutModelResponse> Store(std::string_view file);
  // Calls `take` for each model that the request selects, over all pages, at most `limit` times, the newest first. An
  // error of `take` ends the list and is returned.
  absl::Status ListAll(v1::ListModelsRequest request, size_t limit,
                       const std::function<absl::Status(const v1::StoredModel&)>& take);
  // Returns the file of a listed model. DATA_LOSS: the collector returns other bytes than those of the model.
  // RESOURCE_EXHAUSTED: it has more than `most_bytes`, and nothing is read.
  absl::StatusOr<std::string> Fetch(const v1::StoredModel& model, uint64_t most_bytes);
  // Removes a model of the sender; empty: of the caller. `sha256`: 32 bytes.
  absl::Status Remove(const std::string& sha256, const std::string& sender);

 private:
  using Stub = v1::ModelService::Stub;

  ModelClient(ModelClientOptions options, access::Connection connection);
  // `retry_delay`, if not null, is set to the pause that the collector requests; zero: none.
  template <typename Request, typename Response>
  absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response, absl::Duration* retry_delay = nullptr);

  const ModelClientOptions options_;
  const access::Connection connection_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace telemetry::client
