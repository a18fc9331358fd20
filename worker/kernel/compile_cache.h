#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/device/device.h"

namespace telemetry::worker {

// A function that is loaded on a device. One thread launches it at a time: drivers keep a launch's arguments with it.
struct LoadedFunction {
  std::unique_ptr<Module> module;
  absl::Mutex mutex;
  std::unique_ptr<Function> function ABSL_PT_GUARDED_BY(mutex);
};

// Compiles each source once per device. Thread-safe: of threads that ask for one source at the same time the first
// compiles and the others wait for what it gets, while other sources are compiled beside it.
class CompileCache {
 public:
  // Errors are Device::Compile's, Device::Load's and Module::GetFunction's. That a source does not compile
  // (INVALID_ARGUMENT) is remembered too; after another error the next call tries again.
  absl::StatusOr<std::shared_ptr<LoadedFunction>> Get(Device& device, const std::string& source,
                                                      const std::string& function);

  // Forgets everything; what callers still hold stays loaded.
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

}  // namespace telemetry::worker
