#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/copy/copy_place.h"
#include "server/copy/dataset_tables.h"

namespace telemetry::copy {

// Returns a text that changes with every change of the dataset, without reading all of the dataset: new records advance
// the committed_seq of their producer, and deletions reduce the number of attempts or rejects. The text also depends on
// the program's schema. Must be called in a read transaction.
absl::StatusOr<std::string> SourceState(CopyPlace& source, const std::vector<DatasetTable>& tables);

}  // namespace telemetry::copy
