#include "worker/snapshot/lines.h"

#include <utility>

#include "proto/record/sidecar/csv_fields.h"
#include "proto/record/strings.h"

namespace telemetry::worker::snapshot {

using record::Cat;
using record::sidecar::CsvFields;

absl::StatusOr<Lines> Lines::Open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(
        Cat(path, ": cannot be opened; telemetry-export --layout keyed --details writes such files"));
  }
  return Lines(path, std::move(file));
}

bool Lines::Next(std::string* line) {
  if (!std::getline(file_, *line)) return false;
  ++line_;
  return true;
}

absl::StatusOr<bool> Lines::NextJson(record::Json* json) {
  std::string line;
  if (!Next(&line)) return false;
  absl::StatusOr<record::Json> parsed = record::ParseJson(line);
  if (!parsed.ok()) return Wrong(std::string(parsed.status().message()));
  *json = *std::move(parsed);
  return true;
}

absl::StatusOr<bool> Lines::NextFields(size_t width, std::vector<std::string>* fields) {
  std::string text;
  if (!Next(&text)) return false;
  while (true) {
    CsvFields read = record::sidecar::SplitCsv(record::WithoutSuffix(text, "\r"), width);
    std::string more;
    if (read.end == CsvFields::End::kOpenQuote && Next(&more)) {
      text += Cat("\n", more);
      continue;
    }
    if (read.end != CsvFields::End::kText || read.fields.size() != width) {
      return Wrong(Cat("is not a CSV record of ", width, " fields"));
    }
    *fields = std::move(read.fields);
    return true;
  }
}

absl::Status Lines::Wrong(std::string_view why) const {
  return absl::FailedPreconditionError(Cat(path_, ":", line_, ": ", why));
}

}  // namespace telemetry::worker::snapshot
