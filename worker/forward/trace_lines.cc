#include "worker/forward/trace_lines.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "worker/forward/record_pieces.h"

namespace telemetry::worker::forward {
namespace {

using record::sidecar::kMostTraceLineBytes;

// The beginning of a line of Helion's trace.
constexpr std::string_view kTraceStart = R"({"schema_version")";

}  // namespace

void TraceLines::Feed(std::string_view bytes, std::vector<Item>* items) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const bool is_complete = end != std::string_view::npos;
    pending_.append(bytes.substr(0, end));
    bytes.remove_prefix(is_complete ? end + 1 : bytes.size());
    while (pending_.size() > kMostTraceLineBytes) {
      in_long_line_ = true;
      ReadLine(std::string_view(pending_).substr(0, kMostTraceLineBytes), items);
      pending_.erase(0, kMostTraceLineBytes);
    }
    if (!is_complete) return;
    ReadLine(pending_, items);
    pending_.clear();
    in_long_line_ = false;
    ++line_;
  }
}

void TraceLines::Finish(std::vector<Item>* items) {
  ReadLine(pending_, items);
  pending_.clear();
}

void TraceLines::ReadLine(std::string_view line, std::vector<Item>* items) {
  if (in_long_line_) {
    if (!line.empty()) AddBad(line, absl::StrCat("part of a line of more than ", kMostTraceLineBytes, " bytes"), items);
    return;
  }
  if (StripBlanks(line).empty() || AddLine(line, items)) return;
  std::vector<Item> lines;
  const auto pieces = CutRecords(line, kTraceStart, [&](std::string_view text) { return AddLine(text, &lines); });
  auto whole = lines.begin();
  for (const RecordPiece& piece : pieces) {
    if (piece.is_record) {
      items->push_back(std::move(*whole++));
    } else {
      AddBad(piece.text, std::string(record::sidecar::ParseTraceLine(piece.text).status().message()), items);
    }
  }
}

bool TraceLines::AddLine(std::string_view text, std::vector<Item>* items) const {
  absl::StatusOr<record::sidecar::TraceLine> parsed = record::sidecar::ParseTraceLine(text);
  if (!parsed.ok()) return false;
  items->push_back({.ok = true, .parsed = *std::move(parsed), .text = std::string(text), .error = {}, .line = line_});
  return true;
}

void TraceLines::AddBad(std::string_view text, std::string error, std::vector<Item>* items) const {
  items->push_back({.ok = false, .parsed = {}, .text = std::string(text), .error = std::move(error), .line = line_});
}

}  // namespace telemetry::worker::forward
