#pragma once

#include <optional>
#include <string>

#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// The next item of an export, or no item yet; then the caller takes another step.
struct ExportStep {
  std::optional<v1::ExportItem> item;
  // A serialised ExportItem with an IR graph, used instead of `item`. Its parsed form may take twenty times the
  // memory.
  std::string serialised;
  bool done = false;
};

}  // namespace telemetry::storage
