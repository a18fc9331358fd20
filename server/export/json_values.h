#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/record/json.h"

namespace telemetry::exporter {

// Values as the export's own JSON files write them.

// RFC 3339 in UTC with microseconds.
record::Json TimeJson(int64_t unix_us);

// As the perf_ms column writes it: "%.6f".
record::Json MillisecondsJson(double ms);

// JSON text as a value; the text itself, as a string, where it is no JSON.
record::Json EmbeddedJson(std::string_view text);

// A config's text as an object; the text itself, as a string, where it is no call with literals.
record::Json ConfigJson(std::string_view text);

// Adds a member behind the others.
void Put(record::Json* object, std::string key, record::Json value);

}  // namespace telemetry::exporter
