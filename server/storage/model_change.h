#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "telemetry/v1/models.pb.h"

namespace telemetry::storage {

// The bytes of each part of a model except for the last one (models.proto).
inline constexpr uint64_t kModelPartBytes = uint64_t{1} << 20;
// The bytes for which a model is charged beyond its file: its row, with its provenance. They bound the number of
// models.
inline constexpr uint64_t kModelBaseBytes = uint64_t{16} << 10;
// The most bytes of StoredModel.provenance_json.
inline constexpr uint64_t kMaxProvenanceBytes = kModelBaseBytes;

// Limits of the stored cost models.
struct ModelBudget {
  // The most bytes of all models. 0: no model is stored.
  uint64_t total_bytes = uint64_t{256} << 20;
  // The most bytes of one sender's models. 0: a quarter of total_bytes.
  uint64_t sender_bytes = 0;
  // The most complete models of one sender; at least 1.
  uint64_t versions = 20;
  // The most bytes of the file of a model.
  uint64_t model_bytes = uint64_t{16} << 20;

  uint64_t of_sender() const { return sender_bytes == 0 ? total_bytes / 4 : sender_bytes; }
};

// Returns the number of parts of a file.
inline uint64_t ModelParts(uint64_t size_bytes) { return (size_bytes + kModelPartBytes - 1) / kModelPartBytes; }

// A part to store. Its fields are within the limits of models.proto, and `data` has the bytes of that part.
struct ModelPut {
  std::string sender;  // not empty
  v1::PutModelRequest request;
};

// A model to remove.
struct ModelRemoval {
  std::string sender;  // not empty
  std::string sha256;  // 32 bytes
};

using ModelChange = std::variant<ModelPut, ModelRemoval>;

// The result of a ModelChange.
struct ModelOutcome {
  // A put fails with INVALID_ARGUMENT if the complete file is not a model, which removes it, and with
  // RESOURCE_EXHAUSTED, without any change, if the model is larger than a budget. A removal fails with NOT_FOUND.
  absl::Status status;
  v1::PutModelResponse response = {};  // of a put
};

}  // namespace telemetry::storage
