#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/storage/model_change.h"
#include "telemetry/v1/models.pb.h"

namespace telemetry::models {

// The limits of the fields in models.proto.
inline constexpr uint64_t kMaxSenderBytes = 1024;
// The most bytes of a request. A larger one is refused unparsed.
inline constexpr uint64_t kMaxRequestBytes = storage::kModelPartBytes + (uint64_t{4} << 10);

// Return INVALID_ARGUMENT, with the name of the field, if a field is outside its limits. Thread-safe.
absl::Status CheckRequest(const v1::ListModelsRequest& request);
absl::Status CheckRequest(const v1::ReadModelRequest& request);
absl::Status CheckRequest(const v1::RemoveModelRequest& request);
// Also returns RESOURCE_EXHAUSTED for a file of more than `most_model_bytes`, before any part of it is stored.
absl::Status CheckRequest(const v1::PutModelRequest& request, uint64_t most_model_bytes);

}  // namespace telemetry::models
