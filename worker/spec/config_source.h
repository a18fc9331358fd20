#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// A macro: `#define name value`.
struct Macro {
  std::string name;
  std::string value;
};

// Returns the macros of an index of values for each parameter, in the order of the parameters. Booleans become 0 and 1;
// strings become their characters, without quotes. INVALID_ARGUMENT: a string has a line break.
absl::StatusOr<std::vector<Macro>> MacrosOfConfig(const Specification& spec, const std::vector<size_t>& config);

// The source of one config: the compiler options in the form of device::SourceOptions, a `#define` for each -D and for
// each parameter that the text can name, and the kernel's text. Configs that differ in other parameters only have equal
// sources, which are compiled once.
class ConfigSource {
 public:
  // Reads the kernel's files. `kernel_file` and `kernel_name` are those of the kernel or of its reference. Returns the
  // errors of ReadSource and SplitOptions.
  static absl::StatusOr<ConfigSource> Create(const Specification& spec, const std::string& kernel_file,
                                             const std::string& kernel_name);

  // Returns the source for an index of values for each parameter of the specification of Create(). Returns the errors
  // of MacrosOfConfig.
  absl::StatusOr<std::string> For(const Specification& spec, const std::vector<size_t>& config) const;

  // The text without the parameters: options, -D and the files.
  std::string text() const { return head_ + body_; }
  // The function to launch, unless the compiler reports another name.
  const std::string& function() const { return function_; }

 private:
  std::string head_;
  std::string body_;
  std::string function_;
  std::vector<bool> is_named_;  // for each parameter
};

}  // namespace telemetry::worker::spec
