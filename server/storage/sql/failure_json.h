#pragma once

#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// A Failure as the column measurements.failure holds it: a JSON object without the empty fields, log_sha256 in hex.
std::string FailureToJson(const v1::Failure& failure);
// The reverse. What is no such object gives a Failure whose message is the text, so that nothing is hidden.
void FailureFromJson(std::string_view json, v1::Failure* failure);

}  // namespace telemetry::storage
