#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/spec/element_type.h"

namespace telemetry::worker::spec {

// The header of a NumPy file (numpy.lib.format, versions 1.0 to 3.0).
struct NpyHeader {
  ElementType type = ElementType::kF32;
  size_t data_begin = 0;  // the offset of the first element
};

// Parses the header of a file's contents. INVALID_ARGUMENT: not such a file, in Fortran order, big endian, or an
// element type that arguments do not have.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view contents);

}  // namespace telemetry::worker::spec
