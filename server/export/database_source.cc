#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "server/export/dataset_source.h"
#include "server/storage/any/any_store.h"
#include "server/storage/store.h"

namespace telemetry::exporter {

DatasetSource FromDatabase(std::string path) {
  return [path = std::move(path)](const v1::ExportRequest& request, const ItemSink& sink) -> absl::Status {
    ASSIGN_OR_RETURN(std::unique_ptr<storage::StoreReader> reader, storage::any::OpenReader(path));
    return reader->Export(request, sink);
  };
}

}  // namespace telemetry::exporter
