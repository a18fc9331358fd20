#pragma once

#include "server/export/dataset_source.h"

namespace telemetry::exporter {

// Returns a source that runs `source` on a thread of its own, so that the next items are read while the sink uses one.
// The sink runs on the thread of the caller and receives the items in their order. The source waits while the items
// that the sink has not received yet have 4 MiB or more, so that memory is limited to this and one item. After an error
// of the sink, the source ends with its next item.
DatasetSource ReadAhead(DatasetSource source);

}  // namespace telemetry::exporter
