#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/model_client.h"
#include "proto/access/credentials.h"
#include "telemetry/v1/models.pb.h"
#include "worker/model/cost_model.h"

namespace telemetry::worker {

// A value of --model: a file, "collector" or "collector:SENDER". A file with such a name is written "./collector".
struct ModelSource {
  std::string text;       // empty: no model
  std::string collector;  // HOST:PORT; empty: none
  access::Credentials credentials;
};

// Returns true if the text names a collector's model.
bool IsOfCollector(std::string_view text);

// A model of a collector that this program can use.
struct FoundModel {
  v1::StoredModel stored;
  std::string file;
  model::CostModel model;
};

// Returns the newest model of the sender (empty: of any) that this program can use. A model that is damaged, hostile or
// of other features is reported to `on_notice`, and the newest model of another sender is tried, at most four in all.
// NOT_FOUND: the collector has no model for this program. Other errors: those of client::ModelClient.
absl::StatusOr<FoundModel> FindModel(client::ModelClient& client, const std::string& sender,
                                     const std::function<void(const std::string&)>& on_notice);

// Reads the model that `source` names, which is not empty. Returns the errors of CostModel::Load and of FindModel;
// INVALID_ARGUMENT: a collector's model without a collector.
absl::StatusOr<model::CostModel> ReadModel(const ModelSource& source,
                                           const std::function<void(const std::string&)>& on_notice);

}  // namespace telemetry::worker
