#pragma once

#include "absl/status/status.h"

namespace telemetry::storage {

// What to say of a database with schema `version` where this program knows them up to `newest`. FAILED_PRECONDITION;
// the message says what to do.
absl::Status NewerSchema(int version, int newest);

// OK when it is the one that this program reads. FAILED_PRECONDITION: older or newer.
absl::Status RequireSchemaVersion(int version, int newest);

// A table of this name marks a dataset that `telemetry-collector copy` has not finished: how far it is.
inline constexpr char kUnfinishedCopyTable[] = "unfinished_copy";

// What to say of such a dataset. FAILED_PRECONDITION; the message says what to do.
absl::Status UnfinishedCopy();

}  // namespace telemetry::storage
