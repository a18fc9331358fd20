#pragma once

#include <string_view>

namespace telemetry::access {

// The metadata key of a call's id. The collector writes the id to its log and sends it to the caller in the initial
// metadata, so that a user's error can be matched with the operator's log. A caller may choose the id.
inline constexpr char kRequestIdKey[] = "x-request-id";

// Returns true for 1 to 64 letters, digits, '.', '_' and '-'. Such a text can be shown and logged unescaped.
bool IsRequestId(std::string_view text);

}  // namespace telemetry::access
