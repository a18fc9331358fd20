#include "worker/forward/record_lines.h"

#include <utility>

#include "absl/status/statusor.h"

namespace telemetry::forward {
namespace {

std::string_view Strip(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r";
  const size_t begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
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
  if (line.empty()) return;
  std::vector<size_t> starts = {0};
  for (size_t at = line.find(start_, 1); at != std::string_view::npos; at = line.find(start_, at + 1)) {
    starts.push_back(at);
  }
  starts.push_back(line.size());

  size_t bad_from = 0;  // bytes from here to the piece at hand belong to no record
  for (size_t first = 0; first + 1 < starts.size();) {
    size_t last = first + 1;
    absl::StatusOr<record::Json> record = absl::UnknownError("");
    // The start text may also stand inside a record, hence more than one end is tried.
    for (; last < starts.size() && !record.ok(); ++last) {
      record = record::ParseJson(line.substr(starts[first], starts[last] - starts[first]));
    }
    if (!record.ok()) {
      ++first;
      continue;
    }
    AddBad(line.substr(bad_from, starts[first] - bad_from), items);
    Item& item = items->emplace_back();
    item.ok = true;
    item.record = *std::move(record);
    item.line = line_;
    first = last - 1;
    bad_from = starts[first];
  }
  AddBad(line.substr(bad_from), items);
}

void RecordLines::AddBad(std::string_view bytes, std::vector<Item>* items) const {
  bytes = Strip(bytes);
  if (bytes.empty()) return;
  Item& item = items->emplace_back();
  item.raw = std::string(bytes);
  item.error = std::string(record::ParseJson(bytes).status().message());
  item.line = line_;
}

}  // namespace telemetry::forward
