#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Puts stored IR graphs together again. Part of a reader: one thread, inside the caller's transaction.
class IrGraphReader {
 public:
  explicit IrGraphReader(Database& database);

  // In the order of kind.
  absl::StatusOr<std::vector<std::string>> Kinds(int64_t run);
  absl::StatusOr<v1::IrGraph> Read(int64_t run, const std::string& run_id, const std::string& kind);

 private:
  absl::Status ReadNodes(int64_t run, int64_t ir_graph, v1::IrGraph* graph);
  absl::Status ReadEdges(int64_t run, int64_t ir_graph, v1::IrGraph* graph);

  Statement kinds_;
  Statement read_;
  Statement read_nodes_;
  Statement read_edges_;
};

}  // namespace telemetry::storage
