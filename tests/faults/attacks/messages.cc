#include "tests/faults/attacks/messages.h"

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"

namespace telemetry::faults {

std::string ProducerId(int number) {
  std::string id = absl::StrCat("producer ", number);
  id.resize(16, '.');
  return id;
}

std::string OpenMessage(const std::string& producer_id) {
  v1::StreamRequest request;
  request.mutable_open()->set_producer_id(producer_id);
  return request.SerializeAsString();
}

v1::Batch MakeBatch(uint64_t first_seq, const std::vector<std::string>& records) {
  v1::Batch batch;
  batch.set_first_seq(first_seq);
  uint32_t crc = 0;
  for (const std::string& record : records) {
    batch.add_records(record);
    crc = record::Crc32c(crc, record);
  }
  batch.set_crc32c(crc);
  return batch;
}

v1::Batch MakeBatch(uint64_t first_seq, const std::string& record, int count) {
  return MakeBatch(first_seq, std::vector<std::string>(static_cast<size_t>(count), record));
}

std::string BatchMessage(const v1::Batch& batch) {
  v1::StreamRequest request;
  *request.mutable_batch() = batch;
  return request.SerializeAsString();
}

v1::Record Attempt(size_t text_bytes) {
  v1::Record record;
  record.mutable_attempt()->set_attempt_id(std::string(16, 'x'));
  record.mutable_attempt()->set_run_id(std::string(64, 'a'));
  record.mutable_attempt()->set_origin(std::string(text_bytes, 'o'));
  return record;
}

std::string AttemptRecord(size_t text_bytes) { return Attempt(text_bytes).SerializeAsString(); }

v1::Record RowWithStatus(uint64_t seq, const std::string& status) {
  v1::Record record;
  v1::Measurement& row = *record.mutable_measurement();
  row.set_attempt_id(std::string(16, 'x'));
  row.set_seq(seq);
  row.set_status(status);
  row.set_config_id(7);
  return record;
}

std::string RunRecord(size_t source_bytes) {
  v1::Record record;
  record.mutable_run()->set_run_id(std::string(64, 'a'));
  record.mutable_run()->set_kernel_source(std::string(source_bytes, 's'));
  return record.SerializeAsString();
}

std::string DistinctText(uint64_t number, size_t bytes) {
  std::string text = absl::StrCat(number, "-");
  text.resize(bytes, 's');
  return text;
}

}  // namespace telemetry::faults
