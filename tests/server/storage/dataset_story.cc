#include "tests/server/storage/dataset_story.h"

#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/storage/validate.h"

namespace telemetry::storage {

std::string RunId(char digit) { return std::string(64, digit); }

std::string AttemptId(char letter) { return std::string(16, letter); }

v1::Record RunRecord(char run) {
  v1::Record record;
  record.mutable_run()->set_run_id(RunId(run));
  record.mutable_run()->set_kernel_name("softmax");
  record.mutable_run()->set_kernel_source("def softmax(x): ...");
  record.mutable_run()->set_hardware("NVIDIA H200");
  return record;
}

v1::Record AttemptRecord(char attempt, char run) {
  v1::Record record;
  record.mutable_attempt()->set_attempt_id(AttemptId(attempt));
  record.mutable_attempt()->set_run_id(RunId(run));
  return record;
}

v1::Record ConfigRecord(uint64_t config_id, const std::string& text) {
  v1::Record record;
  record.mutable_config()->set_config_id(config_id);
  record.mutable_config()->set_text(text);
  return record;
}

v1::Record RunConfigRecord(char run, uint64_t config_id, const std::string& decorator) {
  v1::Record record;
  record.mutable_run_config()->set_run_id(RunId(run));
  record.mutable_run_config()->set_config_id(config_id);
  if (!decorator.empty()) record.mutable_run_config()->set_decorator(decorator);
  return record;
}

v1::Record GraphRecord(char run) {
  v1::Record record;
  v1::IrGraph& graph = *record.mutable_ir_graph();
  graph.set_run_id(RunId(run));
  graph.set_kind("device");
  graph.set_attributes_json("{}");
  graph.add_nodes()->set_id("a");
  graph.add_nodes()->set_id("b");
  v1::IrEdge& edge = *graph.add_edges();
  edge.set_source("a");
  edge.set_target("b");
  return record;
}

v1::Record Row(char attempt, uint64_t seq, double perf_ms, uint64_t config_id) {
  v1::Record record;
  v1::Measurement& row = *record.mutable_measurement();
  row.set_attempt_id(AttemptId(attempt));
  row.set_seq(seq);
  row.set_timestamp_s(0.25 * static_cast<double>(seq));
  row.set_status("ok");
  row.set_perf_ms(perf_ms);
  row.set_config_id(config_id);
  return record;
}

v1::Record DetailRecord(char attempt, uint64_t seq) {
  v1::Record record;
  v1::MeasurementDetail& detail = *record.mutable_measurement_detail();
  detail.set_attempt_id(AttemptId(attempt));
  detail.set_seq(seq);
  detail.set_stage(v1::MeasurementDetail::STAGE_FINAL);
  detail.set_tied_with_best(false);
  for (const double ms : {0.1, 1e-300, 123456789.123456789, 0.0}) detail.add_samples_ms(ms);
  detail.set_throttled_samples(2);
  detail.set_registers(64);
  detail.set_spill_bytes(0);
  detail.set_shared_bytes(49152);
  detail.set_occupancy(0.5);
  detail.set_binary_bytes(12345);
  detail.set_worst_absolute_error(0.25);
  detail.set_worst_relative_error(1e-3);
  detail.set_sm_clock_mhz(1980);
  detail.set_time_unix_us(1795394163768282);
  detail.set_exact_perf_ms(0.03014400042593479);
  return record;
}

v1::Record EventRecord(char attempt, uint64_t seq, const std::string& text) {
  v1::Record record;
  v1::AttemptEvent& event = *record.mutable_attempt_event();
  event.set_attempt_id(AttemptId(attempt));
  event.set_seq(seq);
  event.set_time_unix_us(1795394163768282);
  event.set_name("selected");
  event.set_text(text);
  return record;
}

std::string ExportText(StoreReader& reader, const v1::Filter& filter) {
  v1::ExportRequest request;
  *request.mutable_filter() = filter;
  request.set_details(true);
  request.set_events(true);
  std::string text;
  absl::Status status = reader.Export(request, [&text](const v1::ExportItem& item) {
    v1::ExportItem copy = item;
    // The only field that depends on the time of sending.
    if (copy.has_attempt()) copy.mutable_attempt()->clear_first_received_unix_us();
    absl::StrAppend(&text, copy.DebugString(), "\n");
    return absl::OkStatus();
  });
  return status.ok() ? text : status.ToString();
}

DatasetStory::DatasetStory(const sqlite::WriterOptions& options) : dataset_(NewTestDataset(options)) { Restart(); }

void DatasetStory::Restart() {
  writer_.reset();
  absl::StatusOr<std::unique_ptr<StoreWriter>> writer = dataset_->OpenWriter();
  if (!writer.ok()) {
    ADD_FAILURE() << writer.status();
    return;
  }
  writer_ = *std::move(writer);
  absl::StatusOr<uint64_t> committed_seq = writer_->OpenProducer(producer_id_, 1, "test");
  EXPECT_TRUE(committed_seq.ok()) << committed_seq.status();
  next_seq_ = committed_seq.value_or(0) + 1;
}

void AddRecords(const std::vector<v1::Record>& records, ProducerBatch* batch) {
  for (const v1::Record& record : records) {
    batch->records.push_back({&record, Validate(record)});
  }
}

BatchOutcome DatasetStory::Send(const std::vector<v1::Record>& records) {
  BatchOutcome outcome = SendAt(next_seq_, records);
  next_seq_ = outcome.committed_seq + 1;
  return outcome;
}

BatchOutcome DatasetStory::SendAt(uint64_t first_seq, const std::vector<v1::Record>& records, uint64_t epoch) {
  ProducerBatch batch{.producer_id = producer_id_, .epoch = epoch, .first_seq = first_seq};
  AddRecords(records, &batch);
  absl::StatusOr<std::vector<BatchOutcome>> outcomes = writer_->CommitBatches({batch});
  EXPECT_TRUE(outcomes.ok()) << outcomes.status();
  return outcomes.ok() ? outcomes->front() : BatchOutcome{.status = outcomes.status(), .refused = {}};
}

std::string DatasetStory::Query(const std::string& sql) const { return dataset_->Query(sql); }

std::unique_ptr<StoreReader> DatasetStory::OpenReader() const {
  absl::StatusOr<std::unique_ptr<StoreReader>> reader = dataset_->OpenReader();
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

std::string DatasetStory::Export(const v1::Filter& filter) const {
  absl::StatusOr<std::unique_ptr<StoreReader>> reader = dataset_->OpenReader();
  return reader.ok() ? ExportText(**reader, filter) : reader.status().ToString();
}

}  // namespace telemetry::storage
