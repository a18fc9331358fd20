#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/device/device.h"

namespace telemetry::worker::runtime {

// A function that is loaded on a device. Only one thread may launch it at a time, because drivers store a launch's
// arguments in the function.
struct LoadedFunction {
  std::unique_ptr<device::Module> module;
  absl::Mutex mutex;
  std::unique_ptr<device::Function> function ABSL_PT_GUARDED_BY(mutex);
};

// Compiles each source once per device. Thread-safe: if several threads request the same source, the first compiles it
// and the others wait for the result. Different sources are compiled concurrently.
class CompileCache {
 public:
  // Returns the errors of Device::Compile, Device::Load and Module::GetFunction. An INVALID_ARGUMENT error (the source
  // does not compile) is cached too; after another error the next call tries again.
  absl::StatusOr<std::shared_ptr<LoadedFunction>> Get(device::Device& device, const std::string& source,
                                                      const std::string& function);

  // Removes all entries. Functions that callers hold stay loaded.
  void Clear();

 private:
  struct Entry {
    absl::Mutex mutex;
    bool is_known ABSL_GUARDED_BY(mutex) = false;
    absl::StatusOr<std::shared_ptr<LoadedFunction>> result ABSL_GUARDED_BY(mutex);
  };

  std::shared_ptr<Entry> Find(const std::string& key);

  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::worker::runtime
