#pragma once

#include <string>

#include "proto/record/json.h"

namespace telemetry::record {

// A config (an object) as the two kinds of sidecar have it: Helion sorts its arguments in rows, not in records.

// The row's text, "Config(a=1, b=[2])": what Config.text holds.
std::string SortedConfigText(Json config);

// The order of keys in the record, as a JSON array of strings: what RunConfig.record_keys_json holds.
std::string ConfigKeysJson(const Json& config);

}  // namespace telemetry::record
