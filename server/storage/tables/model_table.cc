#include "server/storage/tables/model_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/stream_hash.h"

namespace telemetry::storage::tables {
namespace {

int64_t ChargedBytes(int64_t size_bytes) { return size_bytes + static_cast<int64_t>(kModelBaseBytes); }

// Computes the hashes of a file piece by piece, and collects its first line.
class FileCheck {
 public:
  void Add(std::string_view bytes) {
    file_.Update(bytes);
    if (!has_line_) {
      const size_t end = bytes.find('\n');
      has_line_ = end != std::string_view::npos;
      const std::string_view of_line = bytes.substr(0, end);
      // One byte above the limit is enough to refuse the line.
      line_.append(of_line.substr(0, kMaxModelHeaderBytes + 1 - std::min(line_.size(), kMaxModelHeaderBytes + 1)));
      if (!has_line_) return;
      bytes.remove_prefix(end + 1);
    }
    trees_.Update(bytes);
  }

  absl::StatusOr<ModelHeader> Finish(const std::string& sha256) {
    ASSIGN_OR_RETURN(const std::string of_file, file_.Hex());
    ASSIGN_OR_RETURN(const std::string of_trees, trees_.Hex());
    if (of_file != record::HexEncode(sha256)) {
      return absl::InvalidArgumentError("the bytes of the model do not have the announced SHA-256; send it again");
    }
    if (!has_line_) return absl::InvalidArgumentError("the file is not a cost model: it has no complete line");
    ASSIGN_OR_RETURN(ModelHeader header, ParseModelHeader(line_));
    if (of_trees != header.trees_sha256) {
      return absl::InvalidArgumentError(
          "the file is damaged: its trees do not have the hash in its first line; copy or train it again");
    }
    return header;
  }

 private:
  record::StreamHash file_;
  record::StreamHash trees_;
  std::string line_;
  bool has_line_ = false;
};

}  // namespace

// The row of `dataset` is the lock of these tables: a change is rare, and no other transaction locks that row.
ModelTable::ModelTable(sql::Database& database)
    : lock_(database, {.text = "SELECT created_unix_us FROM dataset", .lock = sql::RowLock::kUpdate}),
      read_(database,
            "SELECT model, sender, sha256, size_bytes, received_parts, stored_order FROM models "
            "ORDER BY coalesce(stored_order, 0), model"),
      insert_(database,
              "INSERT INTO models (sender, sha256, size_bytes, received_parts) VALUES (?1, ?2, ?3, 0) "
              "RETURNING model"),
      insert_part_(database, "INSERT INTO model_parts (model, part, data) VALUES (?1, ?2, ?3)"),
      read_part_(database, "SELECT data FROM model_parts WHERE model = ?1 AND part = ?2"),
      count_part_(database, "UPDATE models SET received_parts = ?2 WHERE model = ?1"),
      newest_(database, "SELECT CAST(coalesce(max(stored_order), 0) AS bigint) FROM models"),
      complete_(database,
                "UPDATE models SET stored_order = ?2, stored_unix_us = ?3, format_version = ?4, feature_version = ?5, "
                "provenance_json = ?6 WHERE model = ?1"),
      remove_parts_(database, "DELETE FROM model_parts WHERE model = ?1"),
      remove_(database, "DELETE FROM models WHERE model = ?1") {}

absl::StatusOr<ModelOutcome> ModelTable::Change(const ModelChange& change, const ModelBudget& budget,
                                                int64_t now_unix_us) {
  RETURN_IF_ERROR(ReadModels());
  if (const auto* put = std::get_if<ModelPut>(&change)) return Put(*put, budget, now_unix_us);
  return Remove(std::get<ModelRemoval>(change));
}

absl::Status ModelTable::ReadModels() {
  lock_.Reset();
  RETURN_IF_ERROR(lock_.Step().status());
  lock_.Reset();
  models_.clear();
  read_.Reset();
  while (true) {
    const absl::StatusOr<bool> row = read_.Step();
    if (!row.ok() || !*row) return row.status();
    models_.push_back({.key = read_.Int(0),
                       .sender = read_.String(1),
                       .sha256 = std::string(read_.Bytes(2)),
                       .size_bytes = read_.Int(3),
                       .received_parts = read_.Int(4),
                       .is_stored = !read_.IsNull(5)});
  }
}

ModelTable::Model* ModelTable::Find(const std::string& sender, const std::string& sha256) {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [&](const Model& model) { return model.sender == sender && model.sha256 == sha256; });
  return found == models_.end() ? nullptr : &*found;
}

absl::StatusOr<ModelOutcome> ModelTable::Put(const ModelPut& put, const ModelBudget& budget, int64_t now_unix_us) {
  ModelOutcome outcome;
  const v1::PutModelRequest& request = put.request;
  const auto size = static_cast<int64_t>(request.size_bytes());
  Model* model = Find(put.sender, request.sha256());
  if (model != nullptr && model->is_stored && model->size_bytes == size) {
    if (request.part() == 0) {
      ASSIGN_OR_RETURN(const absl::StatusOr<ModelHeader> header, Check(*model));
      if (header.ok()) {
        RETURN_IF_ERROR(Complete(*model, *header, budget, now_unix_us, &outcome.response));
        return outcome;
      }
      // The stored bytes are damaged.
      RETURN_IF_ERROR(RemoveRows(model->key));
      model = nullptr;
    } else {
      outcome.response.set_received_parts(static_cast<uint32_t>(model->received_parts));
      outcome.response.set_is_stored(true);
      return outcome;
    }
  }
  if (model != nullptr && model->size_bytes != size) {
    // One of the two sizes is wrong, and the hash will tell.
    RETURN_IF_ERROR(RemoveRows(model->key));
    model = nullptr;
  }
  if (model == nullptr && request.part() > 0) return outcome;  // the client begins again
  if (model == nullptr) {
    RETURN_IF_ERROR(Begin(put, budget, &outcome));
    if (!outcome.status.ok()) return outcome;
    model = Find(put.sender, request.sha256());
  }
  if (model->received_parts == request.part()) {
    RETURN_IF_ERROR(StorePart(*model, request));
  }
  outcome.response.set_received_parts(static_cast<uint32_t>(model->received_parts));
  if (static_cast<uint64_t>(model->received_parts) == ModelParts(request.size_bytes())) {
    ASSIGN_OR_RETURN(const absl::StatusOr<ModelHeader> header, Check(*model));
    if (header.ok()) {
      RETURN_IF_ERROR(Complete(*model, *header, budget, now_unix_us, &outcome.response));
    } else {
      outcome.status = header.status();
      RETURN_IF_ERROR(RemoveRows(model->key));
    }
  }
  return outcome;
}

absl::Status ModelTable::Begin(const ModelPut& put, const ModelBudget& budget, ModelOutcome* outcome) {
  const auto size = static_cast<int64_t>(put.request.size_bytes());
  const uint64_t most = std::min(budget.of_sender(), budget.total_bytes);
  if (put.request.size_bytes() > budget.model_bytes || static_cast<uint64_t>(ChargedBytes(size)) > most) {
    outcome->status = absl::ResourceExhaustedError(
        absl::StrCat("the model has ", size, " bytes; the limit is ", budget.model_bytes, " bytes for a model, and ",
                     most, " bytes for all models of a sender with ", kModelBaseBytes,
                     " bytes for each: train with fewer or smaller trees, or let the operator raise --model-bytes"));
    return absl::OkStatus();
  }
  for (size_t i = 0; i < models_.size();) {
    const Model& other = models_[i];
    if (other.sender != put.sender || other.is_stored) {
      ++i;
      continue;
    }
    RETURN_IF_ERROR(RemoveRows(other.key));
  }
  const auto of_sender = static_cast<int64_t>(budget.of_sender());
  while (BytesOf(put.sender) + ChargedBytes(size) > of_sender) {
    ASSIGN_OR_RETURN(const bool removed, RemoveOldest(put.sender, /*except=*/0, &outcome->response));
    if (!removed) break;
  }
  while (TotalBytes() + ChargedBytes(size) > static_cast<int64_t>(budget.total_bytes)) {
    ASSIGN_OR_RETURN(const bool removed, RemoveOldest(Heaviest(put.sender), /*except=*/0, &outcome->response));
    if (!removed) break;
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> key,
                   insert_.Bind(put.sender, sql::Blob{put.request.sha256()}, size).QueryInt());
  models_.push_back({.key = key.value_or(0), .sender = put.sender, .sha256 = put.request.sha256(), .size_bytes = size});
  return absl::OkStatus();
}

absl::Status ModelTable::StorePart(Model& model, const v1::PutModelRequest& request) {
  RETURN_IF_ERROR(insert_part_.Bind(model.key, int64_t{request.part()}, sql::Blob{request.data()}).Run());
  ++model.received_parts;
  return count_part_.Bind(model.key, model.received_parts).Run();
}

absl::StatusOr<absl::StatusOr<ModelHeader>> ModelTable::Check(const Model& model) {
  FileCheck check;
  for (int64_t part = 0; part < model.received_parts; ++part) {
    ASSIGN_OR_RETURN(const bool row, read_part_.Bind(model.key, part).Step());
    if (row) check.Add(read_part_.Bytes(0));
    read_part_.Reset();
  }
  return check.Finish(model.sha256);
}

absl::Status ModelTable::Complete(Model& model, const ModelHeader& header, const ModelBudget& budget,
                                  int64_t now_unix_us, v1::PutModelResponse* response) {
  newest_.Reset();
  ASSIGN_OR_RETURN(const std::optional<int64_t> newest, newest_.QueryInt());
  RETURN_IF_ERROR(complete_
                      .Bind(model.key, newest.value_or(0) + 1, now_unix_us, header.format_version,
                            header.feature_version, header.provenance_json)
                      .Run());
  model.is_stored = true;
  response->set_received_parts(static_cast<uint32_t>(model.received_parts));
  response->set_is_stored(true);
  const int64_t key = model.key;
  const std::string sender = model.sender;
  const auto versions = [&] {
    return std::count_if(models_.begin(), models_.end(),
                         [&](const Model& other) { return other.sender == sender && other.is_stored; });
  };
  while (static_cast<uint64_t>(versions()) > std::max<uint64_t>(budget.versions, 1)) {
    ASSIGN_OR_RETURN(const bool removed, RemoveOldest(sender, key, response));
    if (!removed) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelOutcome> ModelTable::Remove(const ModelRemoval& removal) {
  ModelOutcome outcome;
  const Model* const model = Find(removal.sender, removal.sha256);
  if (model == nullptr) {
    outcome.status = absl::NotFoundError("the sender has no such model");
    return outcome;
  }
  RETURN_IF_ERROR(RemoveRows(model->key));
  return outcome;
}

int64_t ModelTable::BytesOf(const std::string& sender) const {
  int64_t bytes = 0;
  for (const Model& model : models_) bytes += model.sender == sender ? ChargedBytes(model.size_bytes) : 0;
  return bytes;
}

int64_t ModelTable::TotalBytes() const {
  int64_t bytes = 0;
  for (const Model& model : models_) bytes += ChargedBytes(model.size_bytes);
  return bytes;
}

std::string ModelTable::Heaviest(const std::string& preferred) const {
  std::map<std::string, int64_t> bytes = {{preferred, 0}};
  for (const Model& model : models_) bytes[model.sender] += ChargedBytes(model.size_bytes);
  std::string heaviest = preferred;
  for (const auto& [sender, held] : bytes) {
    if (held > bytes[heaviest]) heaviest = sender;
  }
  return heaviest;
}

absl::StatusOr<bool> ModelTable::RemoveOldest(const std::string& sender, int64_t except,
                                              v1::PutModelResponse* response) {
  for (const Model& model : models_) {
    if (model.sender != sender || model.key == except) continue;
    RETURN_IF_ERROR(RemoveRows(model.key));
    response->set_removed(response->removed() + 1);
    return true;
  }
  return false;
}

absl::Status ModelTable::RemoveRows(int64_t key) {
  RETURN_IF_ERROR(remove_parts_.Bind(key).Run());
  RETURN_IF_ERROR(remove_.Bind(key).Run());
  std::erase_if(models_, [key](const Model& model) { return model.key == key; });
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
