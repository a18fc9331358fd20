#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// Returns the initial bytes of an argument in device memory, little endian. The same specification gives the same bytes
// on every machine. NOT_FOUND, or another error of the file system: a file cannot be read. INVALID_ARGUMENT: a file has
// another size or type than the argument, or a value does not fit the type.
absl::StatusOr<std::vector<std::byte>> InitialBytes(const Argument& argument, const std::string& folder);

// Does the same with other contents than the argument's own.
absl::StatusOr<std::vector<std::byte>> BytesOf(const Argument& argument, const Fill& fill, const std::string& folder);

// Returns the number at an index of bytes in device memory. Integers beyond 2^53 are rounded.
double NumberAt(const std::vector<std::byte>& bytes, ElementType type, size_t index);

// Returns the path of a file that a specification names: as it is if it is absolute, else below the specification's
// folder, or below the folder above it (as Kernel Tuner looks for files). NOT_FOUND: there is no such file.
absl::StatusOr<std::string> FindFile(const std::string& file, const std::string& folder);

}  // namespace telemetry::worker::spec
