#include "tests/worker/tune/recording/memory_producer.h"

namespace telemetry::worker::tune::recording {

absl::Status MemoryProducer::AppendBatch(absl::Span<const v1::Record> records) {
  ++appends_;
  if (failure_.ok()) records_.insert(records_.end(), records.begin(), records.end());
  return failure_;
}

absl::Status MemoryProducer::Flush() {
  ++flushes_;
  return absl::OkStatus();
}

absl::Status MemoryProducer::Drain(absl::Duration /*timeout*/) { return absl::OkStatus(); }

}  // namespace telemetry::worker::tune::recording
