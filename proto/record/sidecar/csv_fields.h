#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telemetry::record::sidecar {

// The fields of one CSV record, up to the first byte that cannot be read.
struct CsvFields {
  // The reason that the reading ended.
  enum class End {
    kText,         // all text was read
    kOpenQuote,    // the text ends within a quoted field
    kBehindQuote,  // the closing quote of the last field is followed by another byte than a comma, at end_at
    kUnreadable,   // an unquoted field contains a quote or a carriage return, or there are more than `most_fields`
                   // fields
  };
  End end = End::kText;
  std::vector<std::string> fields;  // the complete fields
  size_t end_at = 0;
};

// The width of the widest dialect of a sidecar.
inline constexpr size_t kMostFields = 11;

// Reads up to `most_fields` fields. The text must not contain the record's line end or a line break outside of quotes.
CsvFields SplitCsv(std::string_view text, size_t most_fields);

// Returns the offset of the quote that closes a quoted field whose contents begin `text`, or npos if there is none.
size_t FindClosingQuote(std::string_view text);

// Appends the field as Python's csv.writer writes it: in quotes with its own quotes doubled, but only if the field
// requires quotes.
void AppendCsvField(std::string_view value, std::string* out);

}  // namespace telemetry::record::sidecar
