// Fuzzes CsvParser: the result does not depend on the chunks into which the bytes are divided, invalid bytes are kept
// unchanged, and written rows are read back as the same rows.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/sidecar/csv_parser.h"
#include "tests/fuzz/fuzz.h"

namespace telemetry::record::sidecar {
namespace {

using fuzz::Require;
using Item = CsvParser::Item;
using Kind = CsvParser::Kind;

std::vector<Item> ReadAtOnce(std::string_view bytes) {
  CsvParser csv;
  std::vector<Item> items;
  csv.Feed(bytes, &items);
  csv.Finish(&items);
  Require(csv.pending_bytes() == 0, "nothing waits in a complete file");
  return items;
}

// Reads the bytes in chunks whose sizes are derived from the bytes.
std::vector<Item> ReadInChunks(std::string_view bytes) {
  CsvParser csv;
  std::vector<Item> items;
  while (!bytes.empty()) {
    const size_t length = 1 + static_cast<uint8_t>(bytes[bytes.size() / 2]) % 61;
    csv.Feed(bytes.substr(0, length), &items);
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  csv.Finish(&items);
  return items;
}

std::string Written(const Item& item) {
  std::string line;
  AppendRow(item.dialect, item.row, &line);
  return line;
}

void RequireEqual(const std::vector<Item>& a, const std::vector<Item>& b) {
  Require(a.size() == b.size(), "as many items in chunks");
  for (size_t i = 0; i < a.size(); ++i) {
    Require(a[i].kind == b[i].kind && a[i].dialect == b[i].dialect && a[i].error == b[i].error && a[i].raw == b[i].raw,
            "equal items in chunks");
    Require(a[i].line == b[i].line && a[i].offset == b[i].offset, "equal places in chunks");
    Require(Written(a[i]) == Written(b[i]), "equal rows in chunks");
  }
}

void RequireRereadable(const Item& item) {
  const std::string line = Written(item);
  CsvParser csv(item.dialect);
  std::vector<Item> items;
  csv.Feed(line, &items);
  csv.Finish(&items);
  Require(items.size() == 1 && items[0].kind == Kind::kRow && items[0].dialect == item.dialect, "a row is a row");
  Require(Written(items[0]) == line, "a written row comes back");
}

}  // namespace
}  // namespace telemetry::record::sidecar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using telemetry::fuzz::Require;
  using namespace telemetry::record::sidecar;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<Item> items = ReadAtOnce(bytes);
  RequireEqual(items, ReadInChunks(bytes));
  uint64_t least_offset = 0;
  for (const Item& item : items) {
    Require(item.offset >= least_offset, "items stand in order");
    least_offset = item.offset + item.raw.size();
    if (item.kind == Kind::kBad) Require(bytes.substr(item.offset, item.raw.size()) == item.raw, "bad bytes are kept");
    if (item.kind == Kind::kRow) RequireRereadable(item);
  }
  return 0;
}
