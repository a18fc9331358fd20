#include "server/web/program/web_server.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/log/log.h"
#include "server/storage/any/any_store.h"
#include "server/web/summary/summary_schema.h"
#include "server/web/upkeep/collector_health.h"
#include "server/web/upkeep/dataset_sizes.h"

namespace telemetry::web::program {
namespace {

// The interval in which is decided whether something is due.
constexpr absl::Duration kLook = absl::Seconds(1);
constexpr absl::Duration kSizesInterval = absl::Minutes(1);
// Counting that took T rests for this many times T.
constexpr int kRestFactor = 20;
constexpr absl::Duration kHealthInterval = absl::Seconds(10);
constexpr absl::Duration kHealthTimeout = absl::Seconds(5);

}  // namespace

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(const WebServerOptions& options) {
  std::unique_ptr<WebServer> server(new WebServer(options));
  RETURN_IF_ERROR(server->Open());
  return server;
}

absl::Status WebServer::Open() {
  // Names the mistake in --db before anything else is started.
  RETURN_IF_ERROR(storage::any::OpenDatabaseForReading(options_.db).status());
  if (!options_.tokens.empty()) {
    ASSIGN_OR_RETURN(tokens_, access::TokenWatch::Open(options_.tokens));
    tokens_->Start([] {});
  }
  ASSIGN_OR_RETURN(scratch_, storage::sqlite::ScratchFile::Create(options_.scratch_dir, summary::kSummarySchema));
  ASSIGN_OR_RETURN(std::unique_ptr<storage::sql::Database> summaries, scratch_->OpenWriter());
  ASSIGN_OR_RETURN(http_, http::HttpServer::Open(options_.http));
  state_.emplace(storage::any::IsPostgresqlUrl(options_.db), tokens_.get());
  sessions_.emplace(tokens_.get());
  calls_.emplace(Sources(), *state_);
  metrics_.emplace([this] { return ReadState(); });
  site_.emplace(site::Site::Parts{*sessions_, *calls_, events_, *metrics_});
  summaries_.emplace(Sources().dataset, std::move(summaries), *state_, events_);
  sizes_.emplace(kLook, [this] { CountSizes(); });
  if (!options_.collectors.empty()) health_.emplace(kLook, [this] { AskCollectors(); });
  http_->Start(&*site_);
  return absl::OkStatus();
}

WebServer::~WebServer() {
  health_.reset();
  sizes_.reset();
  summaries_.reset();
  if (calls_.has_value()) calls_->Stop();
  if (http_ != nullptr) http_->Stop();
  if (tokens_ != nullptr) tokens_->Stop();
}

calls::Sources WebServer::Sources() const {
  return {.dataset = [this] { return storage::any::OpenDatabaseForReading(options_.db); },
          .scratch = [this] { return scratch_->OpenReader(); }};
}

site::SiteState WebServer::ReadState() const {
  const summary::Progress progress = state_->progress();
  return {.sessions = sessions_->size(),
          .event_streams = events_.size(),
          .waiting_calls = calls_->waiting(),
          .summarised_attempts = progress.done_attempts,
          .attempts = progress.total_attempts};
}

void WebServer::CountSizes() {
  const SteadyTime begin = SteadyNow();
  if (begin < next_sizes_) return;
  const auto dataset = storage::any::OpenDatabaseForReading(options_.db);
  const absl::StatusOr<DatasetSizes> sizes =
      dataset.ok() ? upkeep::CountSizes(**dataset, state_->is_postgresql()) : dataset.status();
  next_sizes_ = SteadyAfter(std::max(kSizesInterval, kRestFactor * ElapsedSince(begin)));
  if (!sizes.ok()) return log::Warn("cannot count the dataset", {{"reason", sizes.status().ToString()}});
  state_->Set(*sizes);
}

void WebServer::AskCollectors() {
  if (SteadyNow() < next_health_) return;
  next_health_ = SteadyAfter(kHealthInterval);
  std::vector<CollectorHealth> collectors;
  for (const std::string& address : options_.collectors) {
    collectors.push_back(upkeep::AskHealth(address, options_.collector_credentials, kHealthTimeout));
  }
  state_->Set(collectors);
}

}  // namespace telemetry::web::program
