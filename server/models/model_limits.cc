#include "server/models/model_limits.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/nul_check.h"

namespace telemetry::models {
namespace {

constexpr size_t kSha256Bytes = 32;

absl::Status CheckSha256(const std::string& sha256) {
  if (sha256.size() == kSha256Bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("sha256 has ", sha256.size(), " bytes, not ", kSha256Bytes));
}

// Checks the sender, the only text in these requests beside the page token.
template <typename Request>
absl::Status CheckTexts(const Request& request) {
  if (const std::optional<std::string> field = storage::FieldWithNul(request)) {
    return absl::InvalidArgumentError(absl::StrCat(*field, " contains a NUL"));
  }
  if (request.sender().size() <= kMaxSenderBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("sender has ", request.sender().size(), " bytes; the limit is ", kMaxSenderBytes));
}

}  // namespace

absl::Status CheckRequest(const v1::ListModelsRequest& request) {
  RETURN_IF_ERROR(CheckTexts(request));
  if (request.feature_version() >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError("feature_version is negative");
}

absl::Status CheckRequest(const v1::ReadModelRequest& request) {
  RETURN_IF_ERROR(CheckTexts(request));
  if (request.sender().empty()) return absl::InvalidArgumentError("sender is empty");
  return CheckSha256(request.sha256());
}

absl::Status CheckRequest(const v1::RemoveModelRequest& request) {
  RETURN_IF_ERROR(CheckTexts(request));
  return CheckSha256(request.sha256());
}

absl::Status CheckRequest(const v1::PutModelRequest& request, uint64_t most_model_bytes) {
  RETURN_IF_ERROR(CheckSha256(request.sha256()));
  const uint64_t size = request.size_bytes();
  if (size == 0) return absl::InvalidArgumentError("size_bytes is 0");
  if (size > most_model_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the model has ", size,
                                                     " bytes, and this collector stores models of at most ",
                                                     most_model_bytes, " bytes: train with fewer or smaller trees"));
  }
  const uint64_t parts = storage::ModelParts(size);
  if (request.part() >= parts) {
    return absl::InvalidArgumentError(absl::StrCat("part is ", request.part(), ", and the file has ", parts, " parts"));
  }
  const uint64_t begin = request.part() * storage::kModelPartBytes;
  const uint64_t expected = std::min(storage::kModelPartBytes, size - begin);
  if (request.data().size() == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("data has ", request.data().size(), " bytes, and part ",
                                                 request.part(), " of the file has ", expected));
}

}  // namespace telemetry::models
