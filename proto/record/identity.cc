#include "proto/record/identity.h"

#include <optional>
#include <utility>
#include <vector>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/python_literal.h"

namespace telemetry::record {
namespace {

// An extra key that enters the run_id by a formula that this program does not know.
constexpr std::string_view kStructuralPolicy = "cute_structural_policy";

bool HasUnknownPart(const v1::Run& run) {
  if (!run.has_extra_json()) return false;
  const absl::StatusOr<Json> extra = ParseJson(run.extra_json());
  return !extra.ok() || extra->Find(kStructuralPolicy) != nullptr;
}

std::string HelionId(const v1::Run& run, const Json& settings) {
  return RunIdHelion(run.kernel_source(), settings, run.input_shapes(), run.dtypes(), run.hardware());
}

std::string Pr2750Id(const v1::Run& run) {
  const std::string kernel_id = KernelId(run.kernel_source(), run.settings_signature());
  return RunIdPr2750(kernel_id, run.input_shapes(), run.dtypes(), run.hardware());
}

}  // namespace

IdentityCheck CheckRunId(const v1::Run& run) {
  const bool is_complete = run.has_kernel_source() && run.has_input_shapes() && run.has_dtypes() && run.has_hardware();
  if (!is_complete || HasUnknownPart(run)) return {};
  std::vector<std::string> expected;
  if (run.has_settings_json()) {
    const absl::StatusOr<Json> settings = ParseJson(run.settings_json());
    if (settings.ok()) expected.push_back(HelionId(run, *settings));
  }
  if (run.has_settings_signature()) expected.push_back(Pr2750Id(run));
  if (!run.has_settings_json() && !run.has_kernel_id()) expected.push_back(HelionId(run, Json::Null()));
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
