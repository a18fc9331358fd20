#include "server/storage/readers/model_reader.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::readers {
namespace {

constexpr int32_t kDefaultModels = 100;
constexpr int32_t kMostModels = 1000;
// A page ends with the model that reaches this size.
constexpr size_t kMostModelPageBytes = size_t{1} << 20;
// Models per query: a connection to PostgreSQL keeps all rows of a query in memory.
constexpr int kModelsAtOnce = 64;

// ?1: models stored before this one; ?2: version of the features or 0; ?3: sender or ''; ?4: limit.
constexpr char kModelList[] = R"sql(
SELECT stored_order, sha256, sender, stored_unix_us, size_bytes, format_version, feature_version, provenance_json
FROM models WHERE stored_order < ?1 AND (?2 = 0 OR feature_version = ?2) AND (?3 = '' OR sender = ?3)
ORDER BY stored_order DESC LIMIT ?4)sql";

constexpr char kModelPart[] = R"sql(
SELECT p.data FROM model_parts AS p JOIN models AS m ON m.model = p.model
WHERE m.sha256 = ?1 AND m.sender = ?2 AND m.stored_order IS NOT NULL AND p.part = ?3)sql";

}  // namespace

absl::StatusOr<v1::ListModelsResponse> ListModels(sql::Database& database, const v1::ListModelsRequest& request) {
  int64_t before = std::numeric_limits<int64_t>::max();
  if (!request.page_token().empty() && !absl::SimpleAtoi(request.page_token(), &before)) {
    return absl::InvalidArgumentError("page_token was not issued by this service");
  }
  const int32_t size = request.page_size() <= 0 ? kDefaultModels : std::min(request.page_size(), kMostModels);
  sql::Statement list(database, kModelList);
  v1::ListModelsResponse response;
  size_t bytes = 0;
  while (true) {
    list.Bind(before, request.feature_version(), request.sender(), kModelsAtOnce);
    for (int rows = 0; rows < kModelsAtOnce; ++rows) {
      ASSIGN_OR_RETURN(const bool row, list.Step());
      if (!row) return response;
      if (response.models_size() == size || bytes >= kMostModelPageBytes) {
        response.set_next_page_token(absl::StrCat(before));
        return response;
      }
      before = list.Int(0);
      v1::StoredModel& model = *response.add_models();
      model.set_sha256(std::string(list.Bytes(1)));
      model.set_sender(list.String(2));
      model.set_stored_unix_us(list.Int(3));
      model.set_size_bytes(static_cast<uint64_t>(list.Int(4)));
      model.set_format_version(list.Int(5));
      model.set_feature_version(list.Int(6));
      model.set_provenance_json(list.String(7));
      bytes += model.ByteSizeLong();
    }
  }
}

absl::StatusOr<v1::ReadModelResponse> ReadModel(sql::Database& database, const v1::ReadModelRequest& request) {
  sql::Statement part(database, kModelPart);
  part.Bind(sql::Blob{request.sha256()}, request.sender(), int64_t{request.part()});
  ASSIGN_OR_RETURN(const bool row, part.Step());
  if (!row) return absl::NotFoundError("no such model or part; it may have been removed to make room for newer ones");
  v1::ReadModelResponse response;
  response.set_data(std::string(part.Bytes(0)));
  return response;
}

}  // namespace telemetry::storage::readers
