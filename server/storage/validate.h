#pragma once

#include "server/storage/refusal.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Checks everything that can be checked without the dataset: forms of ids, ranges, JSON. Thread-safe and without side
// effects, so that callers can validate outside the writer's thread. Assumes that strings are UTF-8, which parsing a
// message has checked.
MaybeRefusal Validate(const v1::Record& record);

}  // namespace telemetry::storage
