#include "worker/forward/run_log.h"

#include <optional>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/config_text.h"

namespace telemetry::worker::forward {
absl::Status RunLog::AddRecord(const record::sidecar::MetaRecord& record) {
  RETURN_IF_ERROR(Send(record.run));
  for (const record::sidecar::RecordConfig& config : record.configs) {
    RETURN_IF_ERROR(AddConfig(config.config_id, record::sidecar::SortedConfigText(config.config)));
    v1::Record out;
    v1::RunConfig& run_config = *out.mutable_run_config();
    run_config.set_run_id(record.run.run_id());
    run_config.set_config_id(config.config_id);
    run_config.set_record_keys_json(record::sidecar::ConfigKeysJson(config.config));
    RETURN_IF_ERROR(sink_(out));
  }
  return absl::OkStatus();
}

absl::Status RunLog::AddRow(const record::sidecar::Row& row, const v1::Run* run) {
  absl::Status status = AddRunOfRow(row, run);
  if (status.ok()) status = AddConfig(*row.config_id, row.config_text);
  if (status.ok()) status = AddSample(row);
  return status;
}

absl::Status RunLog::AddRunOfRow(const record::sidecar::Row& row, const v1::Run* run) {
  if (signature_of_run_.contains(row.run_id)) return absl::OkStatus();
  if (run != nullptr) {
    signature_of_run_[row.run_id] = run->settings_signature();
    return Send(*run);
  }
  const std::optional<std::string_view> signature = record::SignatureOfDecorator(row.decorator, row.config_text);
  signature_of_run_[row.run_id] = signature.value_or("");
  v1::Run named;
  named.set_run_id(row.run_id);
  if (!row.kernel_id.empty()) named.set_kernel_id(row.kernel_id);
  if (signature.has_value()) named.set_settings_signature(std::string(*signature));
  return Send(named);
}

absl::Status RunLog::AddConfig(uint64_t config_id, std::string_view text) {
  if (!configs_.insert(config_id).second) return absl::OkStatus();
  v1::Record record;
  record.mutable_config()->set_config_id(config_id);
  record.mutable_config()->set_text(std::string(text));
  return sink_(record);
}

absl::Status RunLog::AddSample(const record::sidecar::Row& row) {
  if (row.sample_id.empty() || !samples_.emplace(row.run_id, *row.config_id).second) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::string sample_id, record::HexDecode(row.sample_id));
  v1::Record record;
  v1::RunConfig& run_config = *record.mutable_run_config();
  run_config.set_run_id(row.run_id);
  run_config.set_config_id(*row.config_id);
  run_config.set_sample_id(std::move(sample_id));
  const bool is_usual = row.decorator == record::Decorator(row.config_text, signature_of_run_[row.run_id]);
  if (!row.decorator.empty() && !is_usual) run_config.set_decorator(row.decorator);
  return sink_(record);
}

absl::Status RunLog::Send(const v1::Run& run) {
  v1::Record record;
  *record.mutable_run() = run;
  return sink_(record);
}

}  // namespace telemetry::worker::forward
