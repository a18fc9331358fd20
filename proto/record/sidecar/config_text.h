#pragma once

#include <string>

#include "proto/record/json.h"

namespace telemetry::record::sidecar {

// Functions for the two forms of a config (an object) in sidecars. Helion sorts the arguments in rows, but not in
// records.

// Returns the text of a row, such as "Config(a=1, b=[2])". Config.text contains it.
std::string SortedConfigText(Json config);

// Returns the order of the keys in the record, as a JSON array of strings. RunConfig.record_keys_json contains it.
std::string ConfigKeysJson(const Json& config);

}  // namespace telemetry::record::sidecar
