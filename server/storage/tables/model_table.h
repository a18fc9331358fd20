#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/model_change.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/model_header.h"

namespace telemetry::storage::tables {

// The tables models and model_parts. A change concerns only models of its sender, except that a full store removes the
// oldest models of the sender that holds the most bytes. Keeps nothing in memory between two changes; a change reads
// the rows of all models and, to check a complete file, one part after the other. Part of the writer: used by one
// thread, inside the writer's transaction.
class ModelTable {
 public:
  explicit ModelTable(sql::Database& database);

  absl::StatusOr<ModelOutcome> Change(const ModelChange& change, const ModelBudget& budget, int64_t now_unix_us);

 private:
  struct Model {
    int64_t key = 0;
    std::string sender;
    std::string sha256;
    int64_t size_bytes = 0;
    int64_t received_parts = 0;
    bool is_stored = false;
  };

  // Locks the tables for other writers until the end of the transaction, and reads the rows of `models` in the order of
  // their removal: the incomplete ones, then the oldest.
  absl::Status ReadModels();
  Model* Find(const std::string& sender, const std::string& sha256);
  absl::StatusOr<ModelOutcome> Put(const ModelPut& put, const ModelBudget& budget, int64_t now_unix_us);
  absl::StatusOr<ModelOutcome> Remove(const ModelRemoval& removal);
  // Adds a row for a model without parts, after making room for it.
  absl::Status Begin(const ModelPut& put, const ModelBudget& budget, ModelOutcome* outcome);
  absl::Status StorePart(Model& model, const v1::PutModelRequest& request);
  // Checks the complete file of a model. INVALID_ARGUMENT, wrapped in a value: it is damaged, or no model.
  absl::StatusOr<absl::StatusOr<ModelHeader>> Check(const Model& model);
  // Makes a complete model the newest one, and removes the sender's models above the limit of versions.
  absl::Status Complete(Model& model, const ModelHeader& header, const ModelBudget& budget, int64_t now_unix_us,
                        v1::PutModelResponse* response);
  int64_t BytesOf(const std::string& sender) const;
  int64_t TotalBytes() const;
  // Removes the sender's oldest model, but not `except`. Returns false if there is none.
  absl::StatusOr<bool> RemoveOldest(const std::string& sender, int64_t except, v1::PutModelResponse* response);
  std::string Heaviest(const std::string& preferred) const;
  absl::Status RemoveRows(int64_t key);

  std::vector<Model> models_;  // during a change
  sql::Statement lock_;
  sql::Statement read_;
  sql::Statement insert_;
  sql::Statement insert_part_;
  sql::Statement read_part_;
  sql::Statement count_part_;
  sql::Statement newest_;
  sql::Statement complete_;
  sql::Statement remove_parts_;
  sql::Statement remove_;
};

}  // namespace telemetry::storage::tables
