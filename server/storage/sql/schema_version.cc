#include "server/storage/sql/schema_version.h"

#include "absl/strings/str_cat.h"

namespace telemetry::storage::sql {

absl::Status NewerSchema(int version, int newest) {
  return absl::FailedPreconditionError(absl::StrCat("the database has schema version ", version, ", but this program (",
                                                    TELEMETRY_VERSION, ") works only with versions up to ", newest,
                                                    ": use a newer telemetry-collector and telemetry-export"));
}

absl::Status RequireSchemaVersion(int version, int newest) {
  if (version > newest) return NewerSchema(version, newest);
  if (version == newest) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the database has schema version ", version,
                                                    " and this program reads version ", newest,
                                                    ": run telemetry-collector migrate --db on it"));
}

absl::Status UnfinishedCopy() {
  return absl::FailedPreconditionError(
      "the dataset is an unfinished copy of another one: run the same telemetry-collector copy again to "
      "resume it, or remove it");
}

}  // namespace telemetry::storage::sql
