#include "server/storage/tables/model_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"
#include "server/storage/model_change.h"

namespace telemetry::storage::tables {
namespace {

using record::Cat;
using record::Json;

constexpr std::string_view kFormat = "autotune-telemetry cost model";
// The members of the provenance that are listed.
constexpr std::array<std::string_view, 6> kListed = {"created", "program", "trained_with",
                                                     "dataset", "kernels", "scores"};

absl::Status Invalid(std::string_view why) {
  return absl::InvalidArgumentError(Cat("the file is not a cost model that can be stored: ", why));
}

std::string_view TextAt(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && value->kind == Json::Kind::kString ? std::string_view(value->text) : std::string_view();
}

// Returns the version in a member of an object; nullopt if it is no integer from 1 on.
std::optional<int64_t> VersionAt(const Json* object) {
  const Json* const value = object == nullptr ? nullptr : object->Find("version");
  if (value == nullptr || value->kind != Json::Kind::kNumber) return std::nullopt;
  const std::optional<int64_t> version = record::ParseInt64(value->text);
  return version >= 1 ? version : std::nullopt;
}

// Returns the listed members of a provenance.
std::string ListedPart(const Json* provenance, bool with_kernels) {
  Json listed = Json::Object();
  for (const std::string_view name : kListed) {
    const Json* const member = provenance == nullptr ? nullptr : provenance->Find(name);
    if (member == nullptr || (name == "kernels" && !with_kernels)) continue;
    listed.members.emplace_back(std::string(name), *member);
  }
  return record::ToJson(listed);
}

}  // namespace

absl::StatusOr<ModelHeader> ParseModelHeader(std::string_view line) {
  if (line.size() > kMaxModelHeaderBytes) return Invalid("its first line is longer than 1 MiB");
  const auto begins_value = [](char c) { return c == ',' || c == '[' || c == '{' || c == ':'; };
  if (static_cast<uint64_t>(std::count_if(line.begin(), line.end(), begins_value)) > kMaxModelHeaderValues) {
    return Invalid(Cat("its first line has more than ", kMaxModelHeaderValues, " values"));
  }
  const absl::StatusOr<Json> parsed = record::ParseJson(line);
  if (!parsed.ok() || TextAt(*parsed, "format") != kFormat) return Invalid("its first line is no header of a model");
  const std::optional<int64_t> format = VersionAt(&*parsed);
  const std::optional<int64_t> features = VersionAt(parsed->Find("features"));
  if (!format || !features) return Invalid("its header has no version of the format or of the features");
  ModelHeader header = {.format_version = *format, .feature_version = *features};
  header.trees_sha256 = TextAt(*parsed, "trees_sha256");
  if (!record::IsHexId(header.trees_sha256)) return Invalid("its header has no trees_sha256");
  const Json* const provenance = parsed->Find("provenance");
  header.provenance_json = ListedPart(provenance, /*with_kernels=*/true);
  if (header.provenance_json.size() > kMaxProvenanceBytes) {
    header.provenance_json = ListedPart(provenance, /*with_kernels=*/false);
  }
  if (header.provenance_json.size() > kMaxProvenanceBytes) return Invalid("its provenance is longer than 16 KiB");
  return header;
}

}  // namespace telemetry::storage::tables
