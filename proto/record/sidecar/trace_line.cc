#include "proto/record/sidecar/trace_line.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

constexpr size_t kMostNameBytes = 256;
constexpr size_t kEscapeBytes = 6;  // \uXXXX

// Returns the value of the escape \uXXXX at `at`, or 0 if there is none.
uint32_t EscapeAt(std::string_view text, size_t at) {
  const std::string_view escape = text.substr(at, kEscapeBytes);
  uint32_t value = 0;
  if (escape.size() < kEscapeBytes || !escape.starts_with("\\u")) return 0;
  const char* const end = escape.data() + kEscapeBytes;
  const auto [stop, error] = std::from_chars(escape.data() + 2, end, value, /*base=*/16);
  return error == std::errc() && stop == end ? value : 0;
}

bool IsHighSurrogate(uint32_t value) { return value >= 0xd800 && value < 0xdc00; }
bool IsLowSurrogate(uint32_t value) { return value >= 0xdc00 && value < 0xe000; }

// Replaces each escaped half of a surrogate pair by U+FFFD.
std::string ReplaceHalfSurrogates(std::string_view text) {
  std::string replaced(text);
  for (size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
    const uint32_t value = EscapeAt(text, at);
    if (IsHighSurrogate(value) && IsLowSurrogate(EscapeAt(text, at + kEscapeBytes))) {
      at += 2 * kEscapeBytes;
      continue;
    }
    if (IsHighSurrogate(value) || IsLowSurrogate(value)) replaced.replace(at, kEscapeBytes, "\\ufffd");
    at += 2;
  }
  return replaced;
}

absl::StatusOr<Json> ParseLenient(std::string_view text) {
  absl::StatusOr<Json> json = ParseJson(text);
  if (json.ok() || text.find("\\u") == std::string_view::npos) return json;
  absl::StatusOr<Json> without_halves = ParseJson(ReplaceHalfSurrogates(text));
  return without_halves.ok() ? std::move(without_halves) : std::move(json);
}

absl::Status TakeName(const Json& line, std::string_view key, std::string* name) {
  const Json* member = line.Find(key);
  if (member == nullptr || member->kind != Json::Kind::kString) {
    return absl::InvalidArgumentError(Cat(key, member == nullptr ? ": missing" : ": not a string"));
  }
  if (member->text.empty() || member->text.size() > kMostNameBytes) {
    return absl::InvalidArgumentError(Cat(key, ": not between 1 and ", kMostNameBytes, " bytes"));
  }
  if (member->text.find('\0') != std::string::npos) return absl::InvalidArgumentError(Cat(key, ": holds a NUL"));
  *name = member->text;
  return absl::OkStatus();
}

std::string TextOf(const Json* member) {
  return member != nullptr && member->kind == Json::Kind::kString ? member->text : "";
}

std::optional<double> NumberOf(const Json* member) {
  return member != nullptr && member->kind == Json::Kind::kNumber ? ParseDecimal(member->text) : std::nullopt;
}

// Reads a number that may be null or absent; returns false for any other value.
bool ReadNumber(const Json* member, std::optional<double>* number) {
  *number = NumberOf(member);
  return number->has_value() || member == nullptr || member->is_null();
}

std::optional<TraceTrial> TrialOf(const Json& line) {
  const Json* generation = line.Find("generation");
  const absl::StatusOr<uint64_t> config_id = ParseConfigId(TextOf(line.Find("config_id")));
  if (!config_id.ok() || generation == nullptr || generation->kind != Json::Kind::kNumber) return std::nullopt;
  const std::optional<int64_t> number = ParseInt64(generation->text);
  TraceTrial trial = {
      .config_id = *config_id, .status = TextOf(line.Find("status")), .perf_ms = {}, .compile_time_s = {}};
  const bool is_named = !trial.status.empty() && trial.status.find('\0') == std::string::npos;
  if (!number.has_value() || !is_named) return std::nullopt;
  trial.generation = *number;
  if (!ReadNumber(line.Find("perf_ms"), &trial.perf_ms)) return std::nullopt;
  if (!ReadNumber(line.Find("compile_time_s"), &trial.compile_time_s)) return std::nullopt;
  return trial;
}

bool IsTrial(std::string_view event) { return event == "trial_start" || event == "trial" || event == "rebenchmark"; }

}  // namespace

absl::StatusOr<TraceLine> ParseTraceLine(std::string_view text) {
  if (text.size() > kMostTraceLineBytes) {
    return absl::InvalidArgumentError(Cat("longer than ", kMostTraceLineBytes, " bytes"));
  }
  ASSIGN_OR_RETURN(const Json json, ParseLenient(text));
  if (json.kind != Json::Kind::kObject) return absl::InvalidArgumentError("not a JSON object");
  TraceLine line;
  RETURN_IF_ERROR(TakeName(json, "run_id", &line.run_id));
  RETURN_IF_ERROR(TakeName(json, "event", &line.event));
  const Json* version = json.Find("schema_version");
  if (version == nullptr || version->text != "1") return line;
  line.algorithm = TextOf(json.Find("algorithm"));
  if (line.algorithm.size() > kMostNameBytes || line.algorithm.find('\0') != std::string::npos) line.algorithm.clear();
  line.timestamp_s = NumberOf(json.Find("timestamp_s"));
  line.elapsed_s = NumberOf(json.Find("elapsed_s"));
  if (line.event == "run_end") line.end_status = TextOf(json.Find("status"));
  if (!IsTrial(line.event)) return line;
  line.trial = TrialOf(json);
  const Json* config = json.Find("config");
  const bool is_computed = line.trial.has_value() && config != nullptr && config->kind == Json::Kind::kObject &&
                           ConfigId(*config) == line.trial->config_id;
  if (line.event == "rebenchmark" && is_computed) line.config = *config;
  return line;
}

}  // namespace telemetry::record::sidecar
