#include "worker/model_source.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "worker/model/run_features.h"

namespace telemetry::worker {
namespace {

using record::Cat;

constexpr std::string_view kCollector = "collector";
constexpr size_t kMostListed = 1000;
constexpr int kMostTried = 4;
// A collector that is down must cost little: the search begins without a model.
constexpr absl::Duration kDeadline = absl::Seconds(2);

absl::StatusOr<FoundModel> Fetch(client::ModelClient& client, const v1::StoredModel& stored) {
  ASSIGN_OR_RETURN(std::string file, client.Fetch(stored, model::CostModel::kMostBytes));
  absl::StatusOr<model::CostModel> model = model::CostModel::Parse(file);
  if (!model.ok()) return absl::FailedPreconditionError(model.status().message());
  return FoundModel{.stored = stored, .file = std::move(file), .model = *std::move(model)};
}

// Returns true for an error of one model, after which another model may be fine.
bool IsOfModel(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsDataLoss(status) || absl::IsNotFound(status) ||
         absl::IsResourceExhausted(status);
}

}  // namespace

bool IsOfCollector(std::string_view text) { return text == kCollector || text.starts_with(Cat(kCollector, ":")); }

absl::StatusOr<FoundModel> FindModel(client::ModelClient& client, const std::string& sender,
                                     const std::function<void(const std::string&)>& on_notice) {
  v1::ListModelsRequest request;
  request.set_feature_version(model::kFeatureVersion);
  request.set_sender(sender);
  std::vector<v1::StoredModel> listed;
  RETURN_IF_ERROR(client.ListAll(request, kMostListed, [&listed](const v1::StoredModel& stored) {
    if (stored.format_version() == model::CostModel::kFormatVersion) listed.push_back(stored);
    return absl::OkStatus();
  }));
  std::vector<std::string> failed;  // senders whose newest model was rejected
  for (const v1::StoredModel& stored : listed) {
    if (failed.size() == kMostTried) break;
    if (std::find(failed.begin(), failed.end(), stored.sender()) != failed.end()) continue;
    absl::StatusOr<FoundModel> found = Fetch(client, stored);
    if (found.ok() || !IsOfModel(found.status())) return found;
    on_notice(Cat("rejected the cost model ", record::HexEncode(stored.sha256()).substr(0, 12), " of ", stored.sender(),
                  ": ", found.status().message()));
    failed.push_back(stored.sender());
  }
  return absl::NotFoundError(Cat("the collector has no cost model ", sender.empty() ? "" : Cat("of ", sender, " "),
                                 "for version ", model::kFeatureVersion, " of the features",
                                 failed.empty() ? "" : " that this program accepts",
                                 "; store one with telemetry-worker model put"));
}

absl::StatusOr<model::CostModel> ReadModel(const ModelSource& source,
                                           const std::function<void(const std::string&)>& on_notice) {
  if (!IsOfCollector(source.text)) return model::CostModel::Load(source.text);
  if (source.collector.empty()) {
    return absl::InvalidArgumentError(Cat("--model ", source.text, " needs --collector; pass it or name a file"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<client::ModelClient> client,
                   client::ModelClient::Open(
                       {.collector = source.collector, .credentials = source.credentials, .deadline = kDeadline}));
  const std::string sender = source.text == kCollector ? "" : source.text.substr(kCollector.size() + 1);
  ASSIGN_OR_RETURN(FoundModel found, FindModel(*client, sender, on_notice));
  return std::move(found.model);
}

}  // namespace telemetry::worker
