#include "worker/forward/record_pieces.h"

#include <cstddef>

namespace telemetry::worker::forward {
namespace {

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

void AddOther(std::string_view text, std::vector<RecordPiece>* pieces) {
  text = StripBlanks(text);
  if (!text.empty()) pieces->push_back({.text = text, .is_record = false});
}

}  // namespace

std::string_view StripBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<RecordPiece> CutRecords(std::string_view line, std::string_view start,
                                    absl::FunctionRef<bool(std::string_view)> is_record) {
  std::vector<RecordPiece> pieces;
  line = StripBlanks(line);
  if (line.empty()) return pieces;
  size_t other_from = 0;  // the bytes from here on belong to no record so far
  size_t torn = 0;
  size_t at = line.front() == '{' ? 0 : line.find(start);
  while (at != std::string_view::npos && torn < kMostTornPieces) {
    const size_t size = SizeOfObject(line.substr(at));
    if (size == 0 || !is_record(line.substr(at, size))) {
      ++torn;
      at = line.find(start, at + 1);
      continue;
    }
    AddOther(line.substr(other_from, at - other_from), &pieces);
    pieces.push_back({.text = line.substr(at, size), .is_record = true});
    other_from = at + size;
    at = line.find(start, other_from);
  }
  AddOther(line.substr(other_from), &pieces);
  return pieces;
}

}  // namespace telemetry::worker::forward
