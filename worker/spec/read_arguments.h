#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/spec/json_member.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// Reads the kernel's arguments. The parameters and the problem size of `spec` are complete.
absl::Status ReadArguments(const JsonMember& arguments, Specification* spec);

// Reads the members FillType, FillValue, DataSource and RandomSeed of an object.
absl::StatusOr<Fill> ReadFill(const JsonMember& member, ValueArena* arena);

}  // namespace telemetry::worker::spec
