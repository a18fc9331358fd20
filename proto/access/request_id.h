#pragma once

#include <string_view>

namespace telemetry::access {

// The metadata key of a call's id: the collector names it in its log and tells it to the caller in the initial
// metadata, so that a user's error and the operator's log meet. A caller may choose it.
inline constexpr char kRequestIdKey[] = "x-request-id";

// True for 1 to 64 letters, digits, '.', '_' and '-': what may be shown and logged as it is.
bool IsRequestId(std::string_view text);

}  // namespace telemetry::access
