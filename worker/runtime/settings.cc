#include "worker/runtime/settings.h"

#include <functional>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "proto/record/strings.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::runtime {

using record::Cat;

namespace {

constexpr int kMostReservedUnits = 1024;

// The name of a setting and the function that parses its value. The function returns false if the text is not one of
// `allowed`.
struct Setting {
  std::string_view name;
  std::string_view allowed;
  std::function<bool(std::string_view text, Settings* settings)> read;
};

std::optional<bool> ReadBool(std::string_view text) {
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  return std::nullopt;
}

Setting Flag(std::string_view name, bool Settings::*member) {
  return {name, "true, false", [member](std::string_view text, Settings* settings) {
            const std::optional<bool> value = ReadBool(text);
            if (value.has_value()) settings->*member = *value;
            return value.has_value();
          }};
}

template <typename T>
Setting Choice(std::string_view name, std::string_view allowed, T Settings::*member,
               std::vector<std::pair<std::string_view, T>> choices) {
  return {name, allowed, [member, choices = std::move(choices)](std::string_view text, Settings* settings) {
            for (const auto& [spelling, value] : choices) {
              if (spelling != text) continue;
              settings->*member = value;
              return true;
            }
            return false;
          }};
}

bool ReadReservedUnits(std::string_view text, Settings* settings) {
  int value = 0;
  if (!absl::SimpleAtoi(record::AbslView(text), &value) || value < 0 || value > kMostReservedUnits) return false;
  settings->persistent_reserved_sms = value;
  return true;
}

const std::vector<Setting>& AllSettings() {
  static const auto& settings = *new std::vector<Setting>{
      Flag("static_shapes", &Settings::static_shapes),
      Choice<IndexDType>("index_dtype", "auto, int32, int64", &Settings::index_dtype,
                         {{"auto", IndexDType::kAuto}, {"int32", IndexDType::kInt32}, {"int64", IndexDType::kInt64}}),
      Choice<DotPrecision>("dot_precision", "tf32, ieee", &Settings::dot_precision,
                           {{"tf32", DotPrecision::kTf32}, {"ieee", DotPrecision::kIeee}}),
      Flag("fast_math", &Settings::fast_math),
      {"persistent_reserved_sms", "0 to 1024", ReadReservedUnits},
      Flag("use_default_config", &Settings::use_default_config),
      Flag("disallow_autotuning", &Settings::disallow_autotuning),
      Flag("force_autotune", &Settings::force_autotune),
      Flag("print_output_code", &Settings::print_output_code),
      Flag("print_repro", &Settings::print_repro),
      Flag("reference_mode", &Settings::reference_mode),
  };
  return settings;
}

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : AllSettings()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string AllNames() {
  return absl::StrJoin(AllSettings(), ", ",
                       [](std::string* out, const Setting& setting) { *out += std::string(setting.name); });
}

record::Json IndexDTypeJson(IndexDType index_dtype) {
  switch (index_dtype) {
    case IndexDType::kAuto:
      break;
    case IndexDType::kInt32:
      return record::Json::String("torch.int32");
    case IndexDType::kInt64:
      return record::Json::String("torch.int64");
  }
  return record::Json::Null();
}

}  // namespace

absl::StatusOr<Settings> MakeSettings(const std::vector<NamedSetting>& named) {
  Settings settings;
  std::set<std::string_view> seen;
  for (const auto& [name, text] : named) {
    const Setting* setting = FindSetting(name);
    if (setting == nullptr) {
      return absl::InvalidArgumentError(Cat("unknown setting '", name, "'; valid settings are ", AllNames()));
    }
    if (!seen.insert(name).second) return absl::InvalidArgumentError(Cat("setting '", name, "' is given twice"));
    if (!setting->read(text, &settings)) {
      return absl::InvalidArgumentError(
          Cat("setting '", name, "' cannot be '", text, "'; allowed are ", setting->allowed));
    }
  }
  return settings;
}

record::Json SettingsToJson(const Settings& settings, device::Dialect dialect) {
  record::Json json = record::Json::Object();
  const auto add = [&json](std::string name, record::Json value) {
    json.members.emplace_back(std::move(name), std::move(value));
  };
  add("backend", record::Json::String(std::string(DeviceTypeName(dialect))));
  add("dot_precision", record::Json::String(settings.dot_precision == DotPrecision::kTf32 ? "tf32" : "ieee"));
  add("fast_math", record::Json::Bool(settings.fast_math));
  add("index_dtype", IndexDTypeJson(settings.index_dtype));
  add("persistent_reserved_sms", record::Json::Integer(settings.persistent_reserved_sms));
  add("static_shapes", record::Json::Bool(settings.static_shapes));
  return json;
}

}  // namespace telemetry::worker::runtime
