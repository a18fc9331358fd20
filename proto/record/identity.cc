#include "proto/record/identity.h"

#include <optional>
#include <utility>
#include <vector>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"
#include "proto/record/tuner_run.h"

namespace telemetry::record {
namespace {

// An extra key that enters the run_id by a formula that this program does not know.
constexpr std::string_view kStructuralPolicy = "cute_structural_policy";

bool HasUnknownPart(const v1::Run& run) {
  if (!run.has_extra_json()) return false;
  const absl::StatusOr<Json> extra = ParseJson(run.extra_json());
  return !extra.ok() || extra->Find(kStructuralPolicy) != nullptr;
}

// Returns the name of the tuner, for a run of a tuner other than Helion; else an empty string.
std::string TunerOf(const v1::Run& run) {
  if (!run.has_extra_json()) return "";
  const absl::StatusOr<Json> extra = ParseJson(run.extra_json());
  const Json* tuner = extra.ok() ? extra->Find(kTunerKey) : nullptr;
  return tuner != nullptr && tuner->kind == Json::Kind::kString ? tuner->text : "";
}

// Returns the run_id by the formula of a tuner other than Helion. Empty: the content is incomplete.
std::string TunerId(const v1::Run& run, std::string_view tuner) {
  if (!run.has_kernel_name() || !run.has_settings_json()) return "";
  absl::StatusOr<Json> settings = ParseJson(run.settings_json());
  if (!settings.ok()) return "";
  return RunIdOfTuner({.tuner = tuner,
                       .kernel_name = run.kernel_name(),
                       .kernel_source = run.kernel_source(),
                       .settings = *std::move(settings),
                       .input_shapes = run.input_shapes(),
                       .dtypes = run.dtypes(),
                       .hardware = run.hardware()});
}

std::string HelionId(const v1::Run& run, const Json& settings) {
  return RunIdHelion(run.kernel_source(), settings, run.input_shapes(), run.dtypes(), run.hardware());
}

std::string Pr2750Id(const v1::Run& run) {
  const std::string kernel_id = KernelId(run.kernel_source(), run.settings_signature());
  return RunIdPr2750(kernel_id, run.input_shapes(), run.dtypes(), run.hardware());
}

// Returns the ids by the formulas of helion and of pr2750 for which the run has the content.
std::vector<std::string> IdsOfHelion(const v1::Run& run) {
  std::vector<std::string> ids;
  if (run.has_settings_json()) {
    const absl::StatusOr<Json> settings = ParseJson(run.settings_json());
    if (settings.ok()) ids.push_back(HelionId(run, *settings));
  }
  if (run.has_settings_signature()) ids.push_back(Pr2750Id(run));
  if (!run.has_settings_json() && !run.has_kernel_id()) ids.push_back(HelionId(run, Json::Null()));
  return ids;
}

}  // namespace

IdentityCheck CheckRunId(const v1::Run& run) {
  const bool is_complete = run.has_kernel_source() && run.has_input_shapes() && run.has_dtypes() && run.has_hardware();
  if (!is_complete || HasUnknownPart(run)) return {};
  std::vector<std::string> expected;
  const std::string tuner = TunerOf(run);
  if (!tuner.empty()) {
    if (std::string id = TunerId(run, tuner); !id.empty()) expected.push_back(std::move(id));
  } else {
    expected = IdsOfHelion(run);
  }
  for (const std::string& id : expected) {
    if (id == run.run_id()) return {.verdict = IdentityCheck::kTrue, .expected = {}};
  }
  if (expected.empty()) return {};
  return {.verdict = IdentityCheck::kFalse, .expected = std::move(expected.front())};
}

IdentityCheck CheckConfigId(uint64_t config_id, std::string_view text) {
  const absl::StatusOr<Json> config = ParseConfig(text);
  if (!config.ok()) return {};
  const uint64_t expected = ConfigId(*config);
  if (expected == config_id) return {.verdict = IdentityCheck::kTrue, .expected = {}};
  return {.verdict = IdentityCheck::kFalse, .expected = FormatConfigId(expected)};
}

}  // namespace telemetry::record
