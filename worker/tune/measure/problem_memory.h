#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/runtime/tensor.h"
#include "worker/tune/measure/check_code.h"
#include "worker/tune/measure/guarded_buffer.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune::measure {

// The result of a check. `failure` is set if the config is wrong.
struct CheckVerdict {
  wire::Check check;
  std::optional<wire::Failure> failure;
};

class LoadedConfig;

// The problem in the device's memory. Buffers are restored from the host's copy in shared memory, which no kernel can
// reach, and expected results from there or from another run of the baseline. Arguments that kernels read and write are
// restored from copies in the device's memory, whose hashes show if a kernel changed them.
class ProblemMemory {
 public:
  // Allocates the memory. Returns the device's errors. INVALID_ARGUMENT: the setup does not fit
  // the data. FAILED_PRECONDITION: the baseline fails, or differs from the samples.
  static absl::StatusOr<std::unique_ptr<ProblemMemory>> Create(std::shared_ptr<device::Device> device,
                                                               std::unique_ptr<DeviceChecks> checks, wire::Setup setup,
                                                               process::SharedBytes data);
  ~ProblemMemory();

  // Uploads the expected results, which another process has changed in the data.
  absl::Status TakeExpected();

  int buffer_count() const { return setup_.buffers_size(); }
  int data_set_count() const { return setup_.data_sets_size(); }
  const device::Buffer* buffer(int index) const { return buffers_[static_cast<size_t>(index)].body(); }

  // Returns the initial contents of a buffer in the first data set.
  absl::Span<const std::byte> InitialBytes(int index) const;

  // Returns the buffer as a tensor, which is valid as long as this object.
  runtime::Tensor tensor(int index) const;
  const std::string& name(int index) const { return setup_.buffers(index).name(); }
  // Returns true if the current data set has contents for the buffer. If false, launches must write all of it.
  bool HasContents(int index) const { return Contents(index).initial().size() > 0; }

  // Returns true if a launch reads results of the launch before it. Then results are right only after the first launch.
  bool reads_what_it_writes() const;

  // Loads the data set and fills buffers without contents with poison values. Queues the work if possible.
  absl::Status Prepare(int data_set);

  // Checks the memory after launches on the prepared data: nothing but results was written, and (`with_results`) the
  // results are as expected. Blocks. Restores all memory if other memory
  // than results was written. Returns the device's errors.
  absl::StatusOr<CheckVerdict> Check(bool with_results);

 private:
  ProblemMemory(std::shared_ptr<device::Device> device, std::unique_ptr<DeviceChecks> checks, wire::Setup setup,
                process::SharedBytes data);

  absl::Status Allocate();
  const wire::Contents& Contents(int index) const { return setup_.data_sets(data_set_).buffers(index); }
  bool IsWritten(int index) const { return setup_.buffers(index).written(); }
  absl::Status Upload(device::Buffer* to, const wire::Range& from);
  // Finds the buffers whose contents are the same byte everywhere, such as zeros: filling is faster than an upload.
  void FindUniformBytes();
  absl::Status Restore(int index);
  // Keeps a copy of a restored buffer on the device if every launch needs its contents again, which saves an upload for
  // each config.
  absl::Status KeepCopy(int index);
  absl::Status RestoreAll(int data_set);
  // Runs the baseline on the data set, whose inputs are restored, and keeps its results as the expected ones.
  absl::Status RunBaseline();
  absl::Status LaunchBaseline();
  // Returns FAILED_PRECONDITION if the buffer differs from its sample.
  absl::Status CompareSample(int index);
  // Returns the allowed difference of a config's results from the expected ones; twice that of the buffer if these come
  // from a baseline, because both may be off in opposite directions.
  ir::Tolerance ToleranceOf(int index) const;
  // Returns the CheckCounts of each buffer, followed by those of its expected values.
  absl::StatusOr<std::vector<CheckCounts>> Count(bool with_results);
  absl::Status QueueCounts(int index, bool with_results);
  absl::StatusOr<CheckVerdict> Judge(const std::vector<CheckCounts>& counts);
  std::optional<wire::Failure> FindDamage(const std::vector<CheckCounts>& counts) const;
  // Sets the first mismatch of a buffer.
  absl::Status AddFirst(int index, int64_t first, wire::Check* check);
  absl::Status AddCounts(int index, const CheckCounts& counts, wire::Check* check);

  const std::shared_ptr<device::Device> device_;
  const wire::Setup setup_;
  const process::SharedBytes data_;
  const std::unique_ptr<DeviceChecks> checks_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<std::optional<std::byte>> uniform_;          // of the current data set: the byte of uniform contents
  std::vector<std::unique_ptr<device::Buffer>> expected_;  // of the current data set; null: the buffer is read-only
  std::vector<std::unique_ptr<device::Buffer>> copies_;    // of the current data set; null: restored from the host
  std::unique_ptr<device::Buffer> counts_;
  std::unique_ptr<LoadedConfig> baseline_;  // null: the expected results are in data_
  std::vector<CheckCounts> whole_;  // the counts of unchanged memory; the hashes of data that kernels must not change
  int data_set_ = -1;
};

}  // namespace telemetry::worker::tune::measure
