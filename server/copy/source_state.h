#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/copy/copy_place.h"
#include "server/copy/dataset_tables.h"

namespace telemetry::copy {

// A text that is another one as soon as anything of the dataset has changed, without reading all of it: records come
// with a step of their producer, what is removed leaves fewer attempts or rejects. It depends on the program's schema,
// too. In the caller's read transaction.
absl::StatusOr<std::string> SourceState(CopyPlace& source, const std::vector<DatasetTable>& tables);

}  // namespace telemetry::copy
