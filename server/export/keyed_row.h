#pragma once

#include <string>
#include <string_view>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// The rows of the keyed layout (DATA.md): attempt_id and seq name a row as they do in .details.jsonl, numbers have all
// their digits, and the config is JSON.

// The header line without its line end.
std::string_view KeyedHeader();

// The fields of a row that stand elsewhere in the dataset.
struct KeyedRowParts {
  std::string_view run_id;
  std::string_view attempt_id;    // hex digits
  std::string_view config_field;  // JSON, as a CSV field
  std::string_view source_hash;   // empty: not known
};

// Appends the row, line end included.
void AppendKeyedRow(const v1::Measurement& row, const KeyedRowParts& parts, std::string* out);

}  // namespace telemetry::exporter
