#include "server/collector/serving_health.h"

#include "telemetry/v1/dataset.grpc.pb.h"
#include "telemetry/v1/ingest.grpc.pb.h"

namespace telemetry::collector {

void ServingHealth::Begin(grpc::HealthCheckServiceInterface* service) {
  absl::MutexLock lock(&mutex_);
  service_ = service;
  SayWhatIs();
}

void ServingHealth::End() {
  absl::MutexLock lock(&mutex_);
  Say(/*ingest=*/false, /*dataset=*/false);
  service_ = nullptr;
}

void ServingHealth::SetHasRoom(bool has_room) {
  absl::MutexLock lock(&mutex_);
  has_room_ = has_room;
  SayWhatIs();
}

void ServingHealth::SetReachable(bool is_reachable) {
  absl::MutexLock lock(&mutex_);
  is_reachable_ = is_reachable;
  SayWhatIs();
}

void ServingHealth::SetLetsIn(bool lets_in) {
  absl::MutexLock lock(&mutex_);
  if (lets_in_ == lets_in) return;
  lets_in_ = lets_in;
  SayWhatIs();
}

void ServingHealth::Say(bool ingest, bool dataset) {
  if (service_ == nullptr) return;
  service_->SetServingStatus("", ingest);  // the server as a whole
  service_->SetServingStatus(v1::IngestService::service_full_name(), ingest);
  service_->SetServingStatus(v1::DatasetService::service_full_name(), dataset);
}

}  // namespace telemetry::collector
