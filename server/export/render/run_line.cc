#include "server/export/render/run_line.h"

#include <algorithm>
#include <utility>

#include "proto/record/identity.h"
#include "proto/record/json.h"
#include "server/export/render/json_values.h"

namespace telemetry::exporter::render {
namespace {

using record::Json;

bool IsDescribed(const v1::Run& run) { return run.has_kernel_name() || run.has_kernel_source(); }

bool IsDerived(const v1::Run& run) { return record::CheckRunId(run).verdict == record::IdentityCheck::kTrue; }

Json OptionalText(bool has, const std::string& text) { return has ? Json::String(text) : Json::Null(); }

Json OptionalObject(bool has, const std::string& json) { return has ? EmbeddedJson(json) : Json::Null(); }

Json DescriptionJson(const v1::Run& run) {
  Json json = Json::Object();
  Put(&json, "run_id", Json::String(run.run_id()));
  Put(&json, "described", Json::Bool(IsDescribed(run)));
  Put(&json, "kernel_id", OptionalText(run.has_kernel_id(), run.kernel_id()));
  Put(&json, "kernel_name", OptionalText(run.has_kernel_name(), run.kernel_name()));
  Put(&json, "kernel_source", OptionalText(run.has_kernel_source(), run.kernel_source()));
  Put(&json, "input_shapes", OptionalText(run.has_input_shapes(), run.input_shapes()));
  Put(&json, "dtypes", OptionalText(run.has_dtypes(), run.dtypes()));
  Put(&json, "hardware", OptionalText(run.has_hardware(), run.hardware()));
  Put(&json, "settings_signature", OptionalText(run.has_settings_signature(), run.settings_signature()));
  Put(&json, "settings", OptionalObject(run.has_settings_json(), run.settings_json()));
  Put(&json, "extra", OptionalObject(run.has_extra_json(), run.extra_json()));
  return json;
}

}  // namespace

const v1::Run& ChooseDescription(const std::vector<v1::Run>& descriptions) {
  auto chosen = std::find_if(descriptions.begin(), descriptions.end(), IsDerived);
  if (chosen == descriptions.end()) chosen = std::find_if(descriptions.begin(), descriptions.end(), IsDescribed);
  return chosen == descriptions.end() ? descriptions.front() : *chosen;
}

std::string FormatRun(const std::vector<v1::Run>& descriptions) {
  const v1::Run& chosen = ChooseDescription(descriptions);
  Json others = Json::Array();
  for (const v1::Run& other : descriptions) {
    if (&other != &chosen && IsDescribed(other)) others.items.push_back(DescriptionJson(other));
  }
  Json json = DescriptionJson(chosen);
  Put(&json, "other_descriptions", std::move(others));
  return record::ToJson(json);
}

}  // namespace telemetry::exporter::render
