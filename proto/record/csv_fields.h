#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telemetry::record {

// The fields of one CSV record, as far as it can be read.
struct CsvFields {
  enum class End {
    kText,         // all of the text was read
    kOpenQuote,    // the text ends within a quoted field
    kBehindQuote,  // at end_at, behind the closing quote of the last field, stands something other than a comma
    kUnreadable,   // an unquoted field holds a quote or a carriage return, or there are more fields than asked for
  };
  End end = End::kText;
  std::vector<std::string> fields;  // the whole ones
  size_t end_at = 0;
};

// Reads up to `most_fields` fields. The text must not hold the record's line end, nor a line break outside of quotes.
CsvFields SplitCsv(std::string_view text, size_t most_fields);

// The offset of the quote that closes a quoted field which `text` continues; npos where none does.
size_t FindClosingQuote(std::string_view text);

// Appends the field as Python's csv.writer does: in quotes, its own quotes doubled, but only where it needs them.
void AppendCsvField(std::string_view value, std::string* out);

}  // namespace telemetry::record
