#pragma once

#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::sql {

// Encodes a Failure as the column whole_measurements.failure returns it: a JSON object without the empty fields,
// log_sha256 in hex.
std::string FailureToJson(const v1::Failure& failure);
// Decodes it. A text that is not such an object becomes the message of the Failure, so that nothing is hidden.
void FailureFromJson(std::string_view json, v1::Failure* failure);

}  // namespace telemetry::storage::sql
