#include "worker/forward/record_lines.h"

#include <utility>

#include "absl/status/statusor.h"
#include "worker/forward/record_pieces.h"

namespace telemetry::worker::forward {

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
  line = StripBlanks(line);
  if (line.empty() || AddRecord(line, items)) return;
  std::vector<Item> records;
  const auto pieces = CutRecords(line, start_, [&](std::string_view text) { return AddRecord(text, &records); });
  auto record = records.begin();
  for (const RecordPiece& piece : pieces) {
    piece.is_record ? items->push_back(std::move(*record++)) : AddBad(piece.text, items);
  }
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
  Item& item = items->emplace_back();
  item.raw = std::string(bytes);
  item.error = std::string(record::ParseJson(bytes).status().message());
  item.line = line_;
}

}  // namespace telemetry::worker::forward
