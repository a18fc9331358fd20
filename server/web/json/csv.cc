#include "server/web/json/csv.h"

#include <algorithm>
#include <optional>

namespace telemetry::web::json {
namespace {

using record::Json;

bool IsScalar(const Json& value) { return value.kind != Json::Kind::kArray && value.kind != Json::Kind::kObject; }

bool IsColumn(const Json& value) {
  return value.kind == Json::Kind::kArray && std::all_of(value.items.begin(), value.items.end(), IsScalar);
}

// Returns the length of the columns of a series: at least two arrays of scalars, all of one length.
std::optional<size_t> SeriesLength(const Json& object) {
  std::optional<size_t> length;
  int columns = 0;
  for (const auto& [key, value] : object.members) {
    if (!IsColumn(value)) continue;
    if (length.has_value() && *length != value.items.size()) return std::nullopt;
    length = value.items.size();
    ++columns;
  }
  return columns >= 2 ? length : std::nullopt;
}

const Json& Shown(const Json& value) {
  const Json* const label = value.Find("label");
  return label == nullptr ? value : *label;
}

std::string CellText(const Json& value) {
  switch (value.kind) {
    case Json::Kind::kNull:
      return "";
    case Json::Kind::kString:
    case Json::Kind::kNumber:
      return value.text;
    default:
      return record::ToJson(value);
  }
}

bool IsFormula(std::string_view text) {
  constexpr std::string_view kFirst = "=+-@\t\r";
  return !text.empty() && kFirst.find(text.front()) != std::string_view::npos;
}

}  // namespace

void CsvWriter::Append(const Json& list) {
  if (list.kind == Json::Kind::kObject) return AppendObject(list);
  for (const Json& item : list.items) AppendObject(item);
}

void CsvWriter::AppendObject(const Json& object) {
  if (!has_header_) AppendHeader(object);
  const size_t lines = SeriesLength(object).value_or(1);
  for (size_t i = 0; i < lines; ++i) AppendLine(object, i);
}

void CsvWriter::AppendLine(const Json& object, size_t position) {
  const bool is_series = SeriesLength(object).has_value();
  bool is_first = true;
  for (const auto& [key, value] : object.members) {
    if (!is_first) out_.push_back(',');
    is_first = false;
    const Json& cell = is_series && IsColumn(value) ? value.items[position] : Shown(value);
    AppendCell(CellText(cell), cell.kind != Json::Kind::kNumber);
  }
  out_ += "\r\n";
}

void CsvWriter::AppendHeader(const Json& object) {
  has_header_ = true;
  bool is_first = true;
  for (const auto& [key, value] : object.members) {
    if (!is_first) out_.push_back(',');
    is_first = false;
    AppendCell(key, /*is_text=*/true);
  }
  out_ += "\r\n";
}

void CsvWriter::AppendCell(std::string_view text, bool is_text) {
  const bool is_formula = is_text && IsFormula(text);
  if (!is_formula && text.find_first_of("\",\r\n") == std::string_view::npos) {
    out_ += text;
    return;
  }
  out_ += is_formula ? "\"'" : "\"";
  for (const char c : text) out_.append(c == '"' ? 2 : 1, c);
  out_.push_back('"');
}

}  // namespace telemetry::web::json
