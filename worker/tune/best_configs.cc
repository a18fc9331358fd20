#include "worker/tune/best_configs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "client/file.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune {
namespace {

namespace fs = std::filesystem;
using record::Cat;
using record::Json;

constexpr char kExtension[] = ".json";

std::string MemberText(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  return value == nullptr ? "" : value->text;
}

absl::StatusOr<BestConfig> FromJson(const Json& object) {
  BestConfig best = {.run_id = MemberText(object, "run_id"),
                     .kernel_name = MemberText(object, "kernel_name"),
                     .input_shapes = MemberText(object, "input_shapes"),
                     .dtypes = MemberText(object, "dtypes"),
                     .hardware = MemberText(object, "hardware"),
                     .perf_ms = std::strtod(MemberText(object, "perf_ms").c_str(), nullptr),
                     .attempt_id = MemberText(object, "attempt_id")};
  const Json* config = object.Find("config");
  if (best.run_id.empty() || config == nullptr || config->kind != Json::Kind::kObject || !(best.perf_ms > 0)) {
    return absl::FailedPreconditionError("no run_id, config or perf_ms");
  }
  best.config = codegen::Config(*config);
  // Entries of older versions have none.
  const Json* runners_up = object.Find("runners_up");
  for (const Json& item : runners_up == nullptr ? std::vector<Json>() : runners_up->items) {
    absl::StatusOr<codegen::Config> other = codegen::Config::Parse(item.text);
    if (other.ok() && best.runners_up.size() < BestConfig::kMostRunnersUp) best.runners_up.push_back(*std::move(other));
  }
  return best;
}

absl::StatusOr<BestConfig> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(Cat(path, ": does not exist"));
  std::ostringstream text;
  text << file.rdbuf();
  absl::StatusOr<BestConfig> best = ParseBestConfig(text.str());
  if (best.ok()) return best;
  return absl::FailedPreconditionError(
      Cat(path, ": ", best.status().message(), "; remove the file, and the next tuning of the run rewrites it"));
}

}  // namespace

BestConfig MakeBestConfig(const v1::Run& run, codegen::Config config, double perf_ms, std::string_view attempt_id) {
  return {.run_id = run.run_id(),
          .kernel_name = run.kernel_name(),
          .input_shapes = run.input_shapes(),
          .dtypes = run.dtypes(),
          .hardware = run.hardware(),
          .config = std::move(config),
          .perf_ms = perf_ms,
          .attempt_id = record::HexEncode(attempt_id)};
}

Json ToJson(const BestConfig& best) {
  Json object = Json::Object();
  Json runners_up = Json::Array();
  for (const codegen::Config& config : best.runners_up) runners_up.items.push_back(Json::String(config.ToString()));
  object.members = {{"kernel_name", Json::String(best.kernel_name)},
                    {"input_shapes", Json::String(best.input_shapes)},
                    {"dtypes", Json::String(best.dtypes)},
                    {"hardware", Json::String(best.hardware)},
                    {"perf_ms", Json::Number(record::FloatRepr(best.perf_ms))},
                    {"config", best.config.json()},
                    {"config_text", Json::String(best.config.ToString())},
                    {"config_id", Json::String(record::FormatConfigId(best.config.id()))},
                    {"runners_up", std::move(runners_up)},
                    {"run_id", Json::String(best.run_id)},
                    {"attempt_id", Json::String(best.attempt_id)}};
  return object;
}

absl::StatusOr<BestConfig> ParseBestConfig(const std::string& text) {
  const absl::StatusOr<Json> object = record::ParseJson(text);
  return object.ok() ? FromJson(*object) : object.status();
}

BestConfigCache BestConfigCache::Among(const std::vector<codegen::Config>& configs) const {
  if (configs.empty()) return *this;
  std::vector<uint64_t> ids;
  for (const codegen::Config& config : configs) ids.push_back(config.id());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::string text;
  for (const uint64_t id : ids) text += record::FormatConfigId(id);
  return BestConfigCache(Cat(folder_, "/among-", record::Sha256Hex(text).substr(0, 16)));
}

absl::StatusOr<BestConfig> BestConfigCache::Find(const std::string& run_id) const {
  return Read(Cat(folder_, "/", run_id, kExtension));
}

std::vector<BestConfig> BestConfigCache::FindAll(const std::string& kernel_name, const std::string& hardware) const {
  std::vector<std::pair<fs::file_time_type, BestConfig>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != kExtension) continue;
    absl::StatusOr<BestConfig> best = Read(entry.path().string());
    if (!best.ok() || best->kernel_name != kernel_name || best->hardware != hardware) continue;
    found.emplace_back(entry.last_write_time(error), *std::move(best));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.run_id < b.second.run_id;
  });
  std::vector<BestConfig> bests;
  for (auto& [time, best] : found) bests.push_back(std::move(best));
  return bests;
}

absl::Status BestConfigCache::Put(const BestConfig& best) const {
  RETURN_IF_ERROR(client::MakeFolders(folder_));
  return client::ReplaceFile(Cat(folder_, "/", best.run_id, kExtension), record::ToJson(ToJson(best)) + "\n");
}

}  // namespace telemetry::worker::tune
