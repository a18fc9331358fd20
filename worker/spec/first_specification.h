#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "worker/device/device.h"

namespace telemetry::worker::spec {

// Returns a first specification for a kernel of a source: its arguments, and a parameter for each macro that the source
// tests and that it does not require (`#ifndef NAME`, `#if NAME == 1`, `#ifdef NAME`). The members "Comment" say what
// to fill in; readers of T1 ignore them. `kernel` chooses among several kernels; "": the first. NOT_FOUND: there is no
// such kernel; the message lists the kernels.
absl::StatusOr<record::Json> FirstSpecification(std::string_view source, const std::string& file,
                                                device::Dialect dialect, const std::string& kernel);

}  // namespace telemetry::worker::spec
