#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/kernel/tensor.h"
#include "worker/tune/measure/check_code.h"
#include "worker/tune/measure/guarded_buffer.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune {

// What a check found. `failure` is set when the config is wrong.
struct CheckVerdict {
  wire::Check check;
  std::optional<wire::Failure> failure;
};

// The problem in the device's memory. What everything is restored from is the host's copy, in shared memory, which no
// kernel can reach.
class ProblemMemory {
 public:
  // Allocates, and compiles the checks. Errors are the device's; INVALID_ARGUMENT: the setup does not fit the data.
  static absl::StatusOr<std::unique_ptr<ProblemMemory>> Create(std::shared_ptr<Device> device, wire::Setup setup,
                                                               SharedBytes data);

  int buffer_count() const { return setup_.buffers_size(); }
  int data_set_count() const { return setup_.data_sets_size(); }
  const Buffer* buffer(int index) const { return buffers_[static_cast<size_t>(index)].body(); }

  // The buffer as a tensor, as long as this lives, and what it is called.
  Tensor tensor(int index) const;
  const std::string& name(int index) const { return setup_.buffers(index).name(); }
  // Of the data set in place: whether launches find values in it; else they are to write all of it.
  bool HasContents(int index) const { return Contents(index).initial().size() > 0; }

  // Whether a launch finds what the launch before it wrote: then results are right after the first only.
  bool reads_what_it_writes() const;

  // Puts that data set in place, and into buffers without contents what nobody writes. Queues where it can.
  absl::Status Prepare(int data_set);

  // After launches on what Prepare put in place: nothing but results was written, and (`with_results`) these are as
  // expected. Waits. After a failure all memory is as new. Errors are the device's.
  absl::StatusOr<CheckVerdict> Check(bool with_results);

 private:
  ProblemMemory(std::shared_ptr<Device> device, wire::Setup setup, SharedBytes data)
      : device_(std::move(device)), setup_(std::move(setup)), data_(std::move(data)) {}

  absl::Status Allocate();
  const wire::Contents& Contents(int index) const { return setup_.data_sets(data_set_).buffers(index); }
  bool IsWritten(int index) const { return setup_.buffers(index).written(); }
  absl::Status Upload(Buffer* to, const wire::Range& from);
  absl::Status Restore(int index);
  absl::Status RestoreAll(int data_set);
  // CheckCounts of each buffer, then of its expected values.
  absl::StatusOr<std::vector<CheckCounts>> Count(bool with_results);
  absl::Status QueueCounts(int index, bool with_results);
  absl::StatusOr<CheckVerdict> Judge(const std::vector<CheckCounts>& counts);
  std::optional<wire::Failure> FindDamage(const std::vector<CheckCounts>& counts) const;
  absl::Status AddCounts(int index, const CheckCounts& counts, wire::Check* check);

  const std::shared_ptr<Device> device_;
  const wire::Setup setup_;
  const SharedBytes data_;
  std::unique_ptr<DeviceChecks> checks_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<std::unique_ptr<Buffer>> expected_;  // of the data set in place; null: only read
  std::unique_ptr<Buffer> counts_;
  std::vector<CheckCounts> whole_;  // with the hashes of what is in place and has to stay so
  int data_set_ = -1;
};

}  // namespace telemetry::worker::tune
