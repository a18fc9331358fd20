#include "server/export/render/kernel_tuner_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/numbers.h"
#include "proto/record/python_repr.h"
#include "proto/record/sidecar/kernel_tuner_result.h"
#include "server/export/render/json_values.h"
#include "server/export/render/run_line.h"

namespace telemetry::exporter::render {
namespace {

using record::Json;
using record::sidecar::KernelTunerResult;
using record::sidecar::PortableJson;

// The version of the T4 schemas.
constexpr char kSchemaVersion[] = "1.0.0";

bool IsObject(const Json* value) { return value != nullptr && value->kind == Json::Kind::kObject; }

std::string TextOf(const Json* value) {
  return value != nullptr && value->kind == Json::Kind::kString ? value->text : "";
}

// Adds a value to a list that does not contain it.
template <typename T>
void AddDistinct(T value, std::vector<T>* list) {
  if (std::find(list->begin(), list->end(), value) == list->end()) list->push_back(std::move(value));
}

// Returns the parts of an attempt's environment that describe the machine.
Json MachineJson(const Json& environment) {
  Json machine = Json::Object();
  for (const char* key : {"host", "os", "kernel", "cpu", "cpus", "device"}) {
    const Json* value = environment.Find(key);
    if (value != nullptr && !value->is_null()) Put(&machine, key, *value);
  }
  return machine;
}

// The preference among the rows of a config; a greater rank is preferred.
int RankOf(const v1::Measurement& row, const v1::MeasurementDetail* detail) {
  if (row.status() != "ok" || !row.has_perf_ms()) return 0;
  const auto stage = detail == nullptr ? v1::MeasurementDetail::STAGE_UNSPECIFIED : detail->stage();
  if (stage == v1::MeasurementDetail::STAGE_FINAL) return 3;
  return stage == v1::MeasurementDetail::STAGE_SCREENING ? 1 : 2;
}

// The parameters of a cache: their names in order, and the values of each.
class Parameters {
 public:
  // The parameters of a known space come first.
  explicit Parameters(const Json& space) {
    for (const auto& [name, values] : space.members) {
      if (values.kind == Json::Kind::kArray && !index_of_.contains(name))
        AddName(name, /*is_known=*/true).values = values;
    }
  }

  void Add(const Json& configuration) {
    for (const auto& [name, value] : configuration.members) {
      const auto found = index_of_.find(name);
      Parameter& parameter = found == index_of_.end() ? AddName(name, /*is_known=*/false) : parameters_[found->second];
      if (parameter.is_known || !parameter.seen.emplace(record::ToJson(value), 0).second) continue;
      parameter.values.items.push_back(value);
    }
  }

  // Returns the key of a config: the values as Python prints them. A parameter that the config does not have is None.
  std::string KeyOf(const Json& configuration) const {
    std::string key;
    for (const Parameter& parameter : parameters_) {
      const Json* value = configuration.Find(parameter.name);
      absl::StrAppend(&key, key.empty() && &parameter == parameters_.data() ? "" : ",",
                      record::PythonStr(value == nullptr ? Json::Null() : *value));
    }
    return key;
  }

  Json NamesJson() const {
    Json names = Json::Array();
    for (const Parameter& parameter : parameters_) names.items.push_back(Json::String(parameter.name));
    return names;
  }

  Json ValuesJson() const {
    Json values = Json::Object();
    for (const Parameter& parameter : parameters_)
      Put(&values, parameter.name, parameter.is_known ? parameter.values : Sorted(parameter.values));
    return values;
  }

  absl::Status Check() const {
    for (const Parameter& parameter : parameters_) {
      if (!record::sidecar::IsCacheEntryKey(parameter.name)) continue;
      return absl::InvalidArgumentError(absl::StrCat("the kernel-tuner-cache layout cannot hold a parameter named '",
                                                     parameter.name, "', a key of its entries: use --layout t4"));
    }
    return absl::OkStatus();
  }

 private:
  struct Parameter {
    std::string name;
    bool is_known = false;  // the values are those of the space
    Json values = Json::Array();
    absl::flat_hash_map<std::string, int> seen = {};
  };

  Parameter& AddName(const std::string& name, bool is_known) {
    index_of_[name] = parameters_.size();
    return parameters_.emplace_back(Parameter{.name = name, .is_known = is_known});
  }

  // Returns numbers in ascending order, and other values in theirs.
  static Json Sorted(Json values) {
    std::vector<std::pair<double, Json>> numbers;
    for (const Json& value : values.items) {
      const auto number = value.kind == Json::Kind::kNumber ? record::ParseDecimal(value.text) : std::nullopt;
      if (!number.has_value()) return values;
      numbers.emplace_back(*number, value);
    }
    std::stable_sort(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t at = 0; at < numbers.size(); ++at) values.items[at] = std::move(numbers[at].second);
    return values;
  }

  std::vector<Parameter> parameters_;
  absl::flat_hash_map<std::string, size_t> index_of_;
};

// Appends a member of a cache file's object, on a line of its own.
void AppendMember(std::string_view key, const Json& value, std::string* out) {
  record::AppendJsonString(key, out);
  absl::StrAppend(out, ": ", record::ToJson(value), ",\n");
}

Json ProblemSizeOf(const v1::Run& run, const Json& of_attempts) {
  const Json settings = PortableJson(EmbeddedJson(run.settings_json()));
  const Json* size = settings.Find("problem_size");
  return size == nullptr ? of_attempts : *size;
}

}  // namespace

void KernelTunerText::BeginAttempt(const v1::Attempt& attempt) {
  started_unix_us_.reset();
  if (attempt.has_started_unix_us()) started_unix_us_ = attempt.started_unix_us();
  const Json environment = PortableJson(EmbeddedJson(attempt.environment_json()));
  if (const Json* space = environment.Find("space"); space_.is_null() && IsObject(space)) space_ = *space;
  if (const Json* size = environment.Find("problem_size"); problem_size_.is_null() && size != nullptr) {
    problem_size_ = *size;
  }
  const Json machine = MachineJson(environment);
  if (!machine.members.empty()) AddDistinct(machine, &machines_);
  if (std::string program = TextOf(environment.Find("program")); !program.empty()) {
    AddDistinct(std::move(program), &programs_);
  }
  if (operating_system_.empty()) operating_system_ = TextOf(environment.Find("os"));
}

bool KernelTunerText::Add(const v1::Measurement& row, const v1::MeasurementDetail* detail, std::string_view config,
                          std::string* out) {
  if (!record::sidecar::IsKernelTunerResult(row)) return false;
  if (layout_ == Layout::kKernelTunerCache) {
    AddEntry({.config = config,
              .rank = RankOf(row, detail),
              .row = row,
              .detail = detail == nullptr ? v1::MeasurementDetail() : *detail,
              .time_unix_us = TimeOf(row, detail)});
    return true;
  }
  if (results_ == 0 || config.data() != config_.data()) {
    config_ = config;
    configuration_ = record::sidecar::ConfigurationOf(config);
  }
  out->append(results_++ == 0 ? "{\"results\": [\n" : ",\n");
  out->append(record::sidecar::FormatT4Result(
      {.row = &row, .detail = detail, .time_unix_us = TimeOf(row, detail), .configuration = &configuration_}));
  return true;
}

absl::Status KernelTunerText::Finish(const std::vector<v1::Run>& descriptions, std::string* rows, std::string* meta) {
  const v1::Run run = descriptions.empty() ? v1::Run() : ChooseDescription(descriptions);
  if (layout_ == Layout::kKernelTunerCache) return FinishCache(run, rows);
  Json metadata = Json::Object();
  Put(&metadata, "timeunit", Json::String("milliseconds"));
  Put(&metadata, "run_id", Json::String(run.run_id()));
  Put(&metadata, "kernel_name", Json::String(run.kernel_name()));
  Put(&metadata, "device_name", Json::String(run.hardware()));
  const Json size = ProblemSizeOf(run, problem_size_);
  if (!size.is_null()) Put(&metadata, "problem_size", size);
  if (!space_.is_null()) Put(&metadata, "tune_params", space_);
  absl::StrAppend(rows, results_ == 0 ? "{\"results\": [" : "", "\n], \"schema_version\": \"", kSchemaVersion,
                  "\", \"metadata\": ", record::ToJson(metadata), "}\n");
  absl::StrAppend(meta, record::ToIndentedJson(MetadataJson(descriptions)), "\n");
  return absl::OkStatus();
}

// Returns the content of a T4 metadata file. The schema allows further keys, such as `run`.
Json KernelTunerText::MetadataJson(const std::vector<v1::Run>& descriptions) const {
  Json description = Json::Array();
  description.items = machines_;
  Json hardware = Json::Object();
  Put(&hardware, "hardware_description", std::move(description));
  Put(&hardware, "operating_system", Json::String(operating_system_.empty() ? "unidentified OS" : operating_system_));
  Json requirements = Json::Array();
  for (const std::string& program : programs_) requirements.items.push_back(Json::String(program));
  Json environment = Json::Object();
  Put(&environment, "device_query", Json::Object());
  Put(&environment, "requirements", std::move(requirements));
  Json metadata = Json::Object();
  Put(&metadata, "hardware", std::move(hardware));
  Put(&metadata, "environment", std::move(environment));
  if (!descriptions.empty()) Put(&metadata, "run", PortableJson(EmbeddedJson(FormatRun(descriptions))));
  Json json = Json::Object();
  Put(&json, "metadata", std::move(metadata));
  Put(&json, "schema_version", Json::String(kSchemaVersion));
  return json;
}

// Returns the time of a row, to microseconds.
std::optional<int64_t> KernelTunerText::TimeOf(const v1::Measurement& row, const v1::MeasurementDetail* detail) const {
  if (detail != nullptr && detail->has_time_unix_us()) return detail->time_unix_us();
  constexpr double kLongestSeconds = 1e12;
  if (!started_unix_us_.has_value() || !(std::abs(row.timestamp_s()) < kLongestSeconds)) return std::nullopt;
  return *started_unix_us_ + std::llround(row.timestamp_s() * 1e6);
}

void KernelTunerText::AddEntry(Entry entry) {
  const auto [found, is_new] = entry_of_.emplace(entry.row.config_id(), entries_.size());
  if (is_new) {
    entries_.push_back(std::move(entry));
  } else if (entry.rank > entries_[found->second].rank) {
    entries_[found->second] = std::move(entry);
  }
}

absl::Status KernelTunerText::FinishCache(const v1::Run& run, std::string* rows) const {
  Parameters parameters(space_);
  for (const Entry& entry : entries_) parameters.Add(record::sidecar::ConfigurationOf(entry.config));
  RETURN_IF_ERROR(parameters.Check());
  rows->append("{\n");
  AppendMember("device_name", Json::String(run.hardware()), rows);
  // Kernel Tuner and forward require a name.
  AppendMember("kernel_name", Json::String(run.kernel_name().empty() ? run.run_id() : run.kernel_name()), rows);
  const Json size = ProblemSizeOf(run, problem_size_);
  if (!size.is_null()) AppendMember("problem_size", size, rows);
  AppendMember("tune_params_keys", parameters.NamesJson(), rows);
  AppendMember("tune_params", parameters.ValuesJson(), rows);
  AppendMember("objective", Json::String("time"), rows);
  rows->append("\"cache\": {");
  // Texts with commas may give two configs one key: the first one is written.
  absl::flat_hash_map<std::string, int> written;
  for (const Entry& entry : entries_) {
    const Json configuration = record::sidecar::ConfigurationOf(entry.config);
    std::string key = parameters.KeyOf(configuration);
    if (written.contains(key)) continue;
    rows->append(written.empty() ? "\n" : ",\n");
    record::AppendJsonString(key, rows);
    const KernelTunerResult result = {.row = &entry.row,
                                      .detail = &entry.detail,
                                      .time_unix_us = entry.time_unix_us,
                                      .configuration = &configuration};
    absl::StrAppend(rows, ": ", record::sidecar::FormatCacheEntry(result));
    written.emplace(std::move(key), 0);
  }
  // Kernel Tuner continues a file that ends so.
  rows->append("}\n}\n");
  return absl::OkStatus();
}

}  // namespace telemetry::exporter::render
