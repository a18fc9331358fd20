#pragma once

#include <vector>

#include "client/producer.h"

namespace telemetry::worker::tune::recording {

// A producer that keeps its records in memory.
class MemoryProducer final : public client::Producer {
 public:
  absl::Status Append(const v1::Record& record) override { return AppendBatch({&record, 1}); }
  absl::Status AppendBatch(absl::Span<const v1::Record> records) override;
  absl::Status Flush() override;
  absl::Status Drain(absl::Duration timeout) override;
  client::ProducerStats stats() const override { return {.appended_seq = records_.size()}; }

  // Makes calls that append fail with `status`, until it is set to OK.
  void FailWith(absl::Status status) { failure_ = std::move(status); }

  const std::vector<v1::Record>& records() const { return records_; }
  // The number of calls that appended records.
  size_t appends() const { return appends_; }
  int flushes() const { return flushes_; }

 private:
  std::vector<v1::Record> records_;
  absl::Status failure_;
  size_t appends_ = 0;
  int flushes_ = 0;
};

}  // namespace telemetry::worker::tune::recording
