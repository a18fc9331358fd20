#pragma once

#include "server/storage/refusal.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Everything that can be said against a record without the dataset: forms of ids, ranges, JSON. Thread-safe and without
// side effects, so that callers can do it away from the writer's thread. Strings are taken to be UTF-8, which parsing a
// message has checked.
MaybeRefusal Validate(const v1::Record& record);

}  // namespace telemetry::storage
