#include "server/export/render/run_columns.h"

#include <utility>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::exporter::render {
namespace {

std::optional<std::string> ReadSignature(const v1::Run& run) {
  if (run.has_settings_signature()) return run.settings_signature();
  if (!run.has_settings_json()) return std::nullopt;
  absl::StatusOr<record::Json> settings = record::ParseJson(run.settings_json());
  return settings.ok() ? record::SettingsSignature(*settings) : std::nullopt;
}

}  // namespace

RunColumns::RunColumns(const v1::Run& run) : run_(run), signature_(ReadSignature(run)) {
  if (!run_.has_kernel_id() && run_.has_kernel_source() && signature_.has_value()) {
    run_.set_kernel_id(record::KernelId(run_.kernel_source(), *signature_));
  }
}

void RunColumns::Add(const v1::RunConfig& run_config) {
  if (!run_config.has_sample_id() && !run_config.has_decorator()) return;
  Known& known = known_[run_config.config_id()];
  if (run_config.has_sample_id()) known.sample_id = run_config.sample_id();
  if (run_config.has_decorator()) known.decorator = run_config.decorator();
}

const RunColumns::OfConfig& RunColumns::Of(uint64_t config_id, const ConfigText& config) {
  auto [place, added] = computed_.try_emplace(config_id);
  if (added) {
    auto known = known_.find(config_id);
    place->second = Compute(known == known_.end() ? Known{} : known->second, config);
  }
  return place->second;
}

RunColumns::OfConfig RunColumns::Compute(const Known& known, const ConfigText& config) const {
  std::optional<std::string> decorator = known.decorator;
  if (!decorator.has_value() && signature_.has_value()) decorator = record::Decorator(config.text, *signature_);
  OfConfig columns;
  if (known.sample_id.has_value()) {
    columns.sample_id = record::HexEncode(*known.sample_id);
  } else if (decorator.has_value() && run_.has_kernel_source()) {
    columns.sample_id = record::SampleId(run_.kernel_source(), *decorator);
  }
  if (decorator.has_value()) columns.decorator_field = record::sidecar::CsvField(*decorator);
  return columns;
}

}  // namespace telemetry::exporter::render
