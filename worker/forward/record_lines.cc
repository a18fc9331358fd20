#include "worker/forward/record_lines.h"

#include <utility>

#include "absl/status/statusor.h"

namespace telemetry::worker::forward {
namespace {

std::string_view Strip(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r";
  const size_t begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

// Limit for the torn pieces of a line, because each costs a scan of the rest of the line.
constexpr size_t kMostTornPieces = 1000;

// Returns the size of the object at the beginning of `text`, from its opening brace to its closing brace, or 0 if it is
// not closed.
size_t SizeOfObject(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace

void RecordLines::Feed(std::string_view bytes, std::vector<Item>* items) {
  pending_.append(bytes);
  size_t begin = 0;
  for (size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ReadLine(std::string_view(pending_).substr(begin, end - begin), items);
    ++line_;
  }
  pending_.erase(0, begin);
}

void RecordLines::Finish(std::vector<Item>* items) {
  ReadLine(pending_, items);
  pending_.clear();
}

void RecordLines::ReadLine(std::string_view line, std::vector<Item>* items) {
  line = Strip(line);
  if (line.empty() || AddRecord(line, items)) return;
  size_t bad_from = 0;  // the bytes from here on belong to no record so far
  size_t torn = 0;
  size_t at = line.front() == '{' ? 0 : line.find(start_);
  while (at != std::string_view::npos && torn < kMostTornPieces) {
    const size_t size = SizeOfObject(line.substr(at));
    std::vector<Item> record;
    if (size == 0 || !AddRecord(line.substr(at, size), &record)) {
      ++torn;
      at = line.find(start_, at + 1);
      continue;
    }
    AddBad(line.substr(bad_from, at - bad_from), items);
    items->push_back(std::move(record.front()));
    bad_from = at + size;
    at = line.find(start_, bad_from);
  }
  AddBad(line.substr(bad_from), items);
}

bool RecordLines::AddRecord(std::string_view text, std::vector<Item>* items) const {
  absl::StatusOr<record::Json> record = record::ParseJson(text);
  if (!record.ok()) return false;
  Item& item = items->emplace_back();
  item.ok = true;
  item.record = *std::move(record);
  item.line = line_;
  return true;
}

void RecordLines::AddBad(std::string_view bytes, std::vector<Item>* items) const {
  bytes = Strip(bytes);
  if (bytes.empty()) return;
  Item& item = items->emplace_back();
  item.raw = std::string(bytes);
  item.error = std::string(record::ParseJson(bytes).status().message());
  item.line = line_;
}

}  // namespace telemetry::worker::forward
