#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/storage/readers/dataset_reader.h"
#include "server/storage/readers/exporter.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/store.h"

namespace telemetry::storage::readers {

// The StoreReader over any kind of database.
class SqlReader : public StoreReader {
 public:
  explicit SqlReader(std::unique_ptr<sql::Database> database) : database_(std::move(database)), reader_(*database_) {}

  absl::StatusOr<uint64_t> CountProducers() override;
  absl::StatusOr<v1::ListRunsResponse> ListRuns(const v1::ListRunsRequest& request) override;
  absl::StatusOr<v1::RunSummary> GetRun(const std::string& run_id) override;
  absl::StatusOr<v1::ListAttemptsResponse> ListAttempts(const v1::ListAttemptsRequest& request) override;
  absl::StatusOr<v1::AttemptSummary> GetAttempt(const std::string& attempt_id) override;
  absl::StatusOr<v1::ListMeasurementsResponse> ListMeasurements(const v1::ListMeasurementsRequest& request) override;
  absl::StatusOr<uint64_t> CacheBytes() override;
  absl::StatusOr<v1::CacheEntry> GetCacheEntry(const v1::GetCacheRequest& request, int64_t oldest_unix_us) override;
  absl::StatusOr<v1::ListCacheResponse> ListCacheEntries(const v1::ListCacheRequest& request,
                                                         int64_t oldest_unix_us) override;
  absl::StatusOr<v1::ListModelsResponse> ListModels(const v1::ListModelsRequest& request) override;
  absl::StatusOr<v1::ReadModelResponse> ReadModel(const v1::ReadModelRequest& request) override;
  absl::Status Export(const v1::ExportRequest& request, const Sink& sink) override;
  absl::StatusOr<ExportStep> Next(Exporter& exporter) override;
  absl::StatusOr<Deletion> BeginDeletion(const v1::DeleteRequest& request) override;
  absl::StatusOr<Removal> Next(Deletion& deletion) override;

 private:
  // Begins a read transaction. If a connection was lost since the last call, re-establishes it and discards everything
  // cached from it: the server may be another one.
  absl::StatusOr<sql::Transaction> BeginCall();

  std::unique_ptr<sql::Database> database_;
  DatasetReader reader_;
};

}  // namespace telemetry::storage::readers
