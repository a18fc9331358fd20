#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::readers {

// Reassembles stored IR graphs. A graph stays serialised, since its parsed form may take twenty times the memory. Part
// of a reader: used by one thread, inside the caller's transaction.
class IrGraphReader {
 public:
  explicit IrGraphReader(sql::Database& database);

  // Returns the kinds of the run's graphs, ordered by kind.
  absl::StatusOr<std::vector<std::string>> Kinds(int64_t run);
  // Returns a serialised IrGraph.
  absl::StatusOr<std::string> Read(int64_t run, const std::string& run_id, const std::string& kind);

 private:
  // Append to a serialised IrGraph.
  absl::Status AppendNodes(int64_t run, int64_t ir_graph, std::string* graph);
  absl::Status AppendEdges(int64_t run, int64_t ir_graph, std::string* graph);

  sql::Statement kinds_;
  sql::Statement read_;
  sql::Statement read_nodes_;
  sql::Statement read_edges_;
};

}  // namespace telemetry::storage::readers
