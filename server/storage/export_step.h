#pragma once

#include <optional>
#include <string>

#include "telemetry/v1/dataset.pb.h"

namespace telemetry::storage {

// The export's next item, or nothing yet, and another step is to be taken.
struct ExportStep {
  std::optional<v1::ExportItem> item;
  // In place of `item`, one with an IR graph: a serialised ExportItem. Its parsed form may take twenty times as much.
  std::string serialised;
  bool done = false;
};

}  // namespace telemetry::storage
