#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/codegen/config.h"
#include "worker/spec/specification.h"
#include "worker/wrapper/source_kernel.h"

namespace telemetry::worker::wrapper::file {

// Returns the best known config of a specification's kernel, or nullopt if none is known.
using FindBestConfig =
    std::function<absl::StatusOr<std::optional<codegen::Config>>(const std::shared_ptr<const spec::Specification>&)>;

// The config of a specification's kernel.
struct ConfigChoice {
  std::optional<codegen::Config> given;  // missing keys have their defaults; unset: the default config
  bool is_best = false;                  // the best known config, or the default one if none is known
};

// Reads a T1 specification and returns a config of its kernel, whose reference is that of the specification's
// verification, or the default config. Tensors are the specification's vectors: those that are not written are
// arguments, the others outputs. Scalars are numbers. INVALID_ARGUMENT: not a specification, or a config that is not in
// its space or cannot be launched. UNIMPLEMENTED: an element type that plans do not have, a vector as a scalar, or a
// variable of the kernel's source that the host sets. NOT_FOUND, or another error of the file system: a file cannot be
// read. Errors name the specification. `find_best` may be empty: the best config is then not known.
absl::StatusOr<std::shared_ptr<const SourceKernel>> ReadSpecKernel(const std::string& path, const ConfigChoice& choice,
                                                                   const FindBestConfig& find_best);

// The T1 specifications whose kernels a plan calls.
struct SpecFiles {
  std::string folder;        // paths of the plan are relative to it; empty: the current folder
  FindBestConfig find_best;  // empty: no config is known, and "best" is the default config
};

// The kernels of the specifications of a plan file. Each specification is read once for each config. Thread-safe.
class SpecKernels {
 public:
  explicit SpecKernels(SpecFiles files) : files_(std::move(files)) {}

  // Returns the kernel of the specification at a path of the plan. Errors are those of ReadSpecKernel().
  absl::StatusOr<std::shared_ptr<const SourceKernel>> Find(const std::string& file, const ConfigChoice& choice);

 private:
  const SpecFiles files_;
  absl::Mutex mutex_;
  // By file and config.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const SourceKernel>> kernels_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::worker::wrapper::file
