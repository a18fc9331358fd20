#pragma once

#include "absl/status/status.h"

namespace telemetry::storage {

// What to say of a database with schema `version` where this program knows them up to `newest`. FAILED_PRECONDITION;
// the message says what to do.
absl::Status NewerSchema(int version, int newest);

// OK when it is the one that this program reads. FAILED_PRECONDITION: older or newer.
absl::Status RequireSchemaVersion(int version, int newest);

}  // namespace telemetry::storage
