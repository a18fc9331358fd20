#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/record/json.h"

namespace telemetry::exporter::render {

// The form of values in the export's own JSON files.

record::Json CountJson(uint64_t count);

// Returns the text, or null for an empty text.
record::Json TextOrNull(const std::string& text);

// Returns the time as RFC 3339 in UTC with microseconds.
record::Json TimeJson(int64_t unix_us);

// Returns the number in the form of the perf_ms column, "%.6f".
record::Json MillisecondsJson(double ms);

// Returns JSON text as a value, or as a string if it is not JSON.
record::Json EmbeddedJson(std::string_view text);

// Returns a config's text as an object, or as a string if it is not a call with literals.
record::Json ConfigJson(std::string_view text);

// Appends a member.
void Put(record::Json* object, std::string key, record::Json value);

}  // namespace telemetry::exporter::render
