#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "telemetry/v1/records.pb.h"
#include "worker/forward/attempt_log.h"

namespace telemetry::worker::forward {

// A model of a collector's dataset in memory, built from the records that the sink received. It implements the rules of
// records.proto on which forwarding relies.
class ModelDataset {
 public:
  // The identity of a row: attempt_id and seq.
  using RowKey = std::pair<std::string, uint64_t>;

  RecordSink Sink() {
    return [this](const v1::Record& record) { return Take(record); };
  }

  std::map<std::string, v1::Attempt> attempts;
  std::map<RowKey, std::string> rows;  // serialised Measurement
  std::map<RowKey, std::string> source_hashes;
  std::map<RowKey, std::string> details;  // serialised MeasurementDetail
  std::map<RowKey, std::string> events;   // texts of AttemptEvents
  std::map<std::string, v1::Run> runs;
  std::map<uint64_t, std::string> configs;
  std::map<std::pair<std::string, uint64_t>, v1::RunConfig> run_configs;
  std::map<std::string, std::string> graphs;  // by run_id
  std::set<std::string> rejects;              // serialised Reject
  int conflicts = 0;
  int unknown_attempts = 0;

  bool operator==(const ModelDataset& other) const {
    return rows == other.rows && source_hashes == other.source_hashes && configs == other.configs &&
           details == other.details && events == other.events && Attempts() == other.Attempts();
  }

  // Returns the attempts, except for the ids that they supersede and are not part of an export.
  std::map<std::string, std::string> Attempts() const {
    std::map<std::string, std::string> texts;
    for (auto [id, attempt] : attempts) {
      attempt.clear_supersedes();
      texts[id] = attempt.DebugString();
    }
    return texts;
  }

 private:
  absl::Status Take(const v1::Record& record) {
    switch (record.kind_case()) {
      case v1::Record::kRun:
        runs[record.run().run_id()].MergeFrom(record.run());
        break;
      case v1::Record::kAttempt:
        TakeAttempt(record.attempt());
        break;
      case v1::Record::kConfig:
        configs.emplace(record.config().config_id(), record.config().text());
        break;
      case v1::Record::kRunConfig:
        run_configs[{record.run_config().run_id(), record.run_config().config_id()}].MergeFrom(record.run_config());
        break;
      case v1::Record::kMeasurement:
        TakeRow(record.measurement());
        break;
      case v1::Record::kSourceHash:
        source_hashes[{record.source_hash().attempt_id(), record.source_hash().seq()}] =
            record.source_hash().source_hash();
        break;
      case v1::Record::kMeasurementDetail:
        TakeBeside(record.measurement_detail(), record.measurement_detail().SerializeAsString(), &details);
        break;
      case v1::Record::kAttemptEvent:
        TakeBeside(record.attempt_event(), record.attempt_event().text(), &events);
        break;
      case v1::Record::kIrGraph:
        graphs[record.ir_graph().run_id()] = record.ir_graph().SerializeAsString();
        break;
      case v1::Record::kReject:
        rejects.insert(record.reject().SerializeAsString());
        break;
      case v1::Record::KIND_NOT_SET:
        return absl::InternalError("an empty record");
    }
    return absl::OkStatus();
  }

  void TakeAttempt(const v1::Attempt& attempt) {
    for (const std::string& id : attempt.supersedes()) {
      superseded_.insert(id);
      if (attempts.contains(id) && !attempts[id].provisional()) continue;
      std::erase_if(details, [&id](const auto& row) { return row.first.first == id; });
      std::erase_if(events, [&id](const auto& row) { return row.first.first == id; });
      attempts.erase(id);
      std::erase_if(rows, [&id](const auto& row) { return row.first.first == id; });
      std::erase_if(source_hashes, [&id](const auto& row) { return row.first.first == id; });
    }
    if (attempt.provisional() && superseded_.contains(attempt.attempt_id())) return;
    v1::Attempt& stored = attempts[attempt.attempt_id()];
    const bool is_stored = !stored.attempt_id().empty();
    const bool other_start = stored.has_started_unix_us() && attempt.has_started_unix_us() &&
                             stored.started_unix_us() != attempt.started_unix_us();
    if (other_start) {
      ++conflicts;
      return;
    }
    const bool provisional = attempt.provisional() && (!is_stored || stored.provisional());
    stored.MergeFrom(attempt);
    stored.set_provisional(provisional);
  }

  template <typename Message>
  void TakeBeside(const Message& message, const std::string& contents, std::map<RowKey, std::string>* stored) {
    if (superseded_.contains(message.attempt_id()) && !attempts.contains(message.attempt_id())) return;
    if (!attempts.contains(message.attempt_id())) ++unknown_attempts;
    const auto [known, is_new] = stored->emplace(RowKey(message.attempt_id(), message.seq()), contents);
    if (!is_new && known->second != contents) ++conflicts;
  }

  void TakeRow(const v1::Measurement& row) {
    if (superseded_.contains(row.attempt_id())) return;
    if (!attempts.contains(row.attempt_id())) ++unknown_attempts;
    const auto [stored, is_new] = rows.emplace(RowKey(row.attempt_id(), row.seq()), row.SerializeAsString());
    if (!is_new && stored->second != row.SerializeAsString()) ++conflicts;
  }

  std::set<std::string> superseded_;
};

}  // namespace telemetry::worker::forward
