#pragma once

#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// The rows of the keyed layout (DATA.md). (attempt_id, seq) identifies a row as in .details.jsonl, numbers have all
// their digits, and the config is JSON.

// Returns the header line without its line end.
std::string KeyedHeader();

// The fields of a row that other items of the dataset contain.
struct KeyedRowParts {
  std::string_view run_id;
  std::string_view attempt_id;    // hex digits
  std::string_view config_field;  // JSON, as a CSV field
  std::string_view source_hash;   // empty: not known
};

// Appends the row with its line end.
void AppendKeyedRow(const v1::Measurement& row, const KeyedRowParts& parts, std::string* out);

}  // namespace telemetry::exporter::render
