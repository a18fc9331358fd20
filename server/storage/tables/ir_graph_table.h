#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/run_table.h"
#include "server/storage/tables/sender_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage::tables {

// The tables ir_graphs, ir_nodes and ir_edges. Part of the writer: used by one thread, inside the writer's transaction.
class IrGraphTable {
 public:
  // `runs` and `sender` must outlive this object.
  IrGraphTable(sql::Database& database, RunTable& runs, const CurrentSender& sender);

  // Stores the graph unless the run already has one of this kind that has a smaller or equal SHA-256, or that belongs
  // to another sender.
  absl::Status Store(const v1::IrGraph& graph);

 private:
  // Removes a stored graph that the new one replaces. Returns false if the stored graph stays.
  absl::StatusOr<bool> MakeRoom(int64_t run, const v1::IrGraph& graph, const std::string& digest);
  absl::Status InsertNodes(int64_t run, int64_t ir_graph, const v1::IrGraph& graph);
  absl::Status InsertEdges(int64_t run, int64_t ir_graph, const v1::IrGraph& graph);

  RunTable& runs_;
  const CurrentSender& sender_;
  sql::Statement find_;
  sql::Statement insert_;
  sql::Statement insert_node_;
  sql::Statement insert_edge_;
  sql::Statement drop_nodes_;
  sql::Statement drop_edges_;
  sql::Statement drop_;
};

}  // namespace telemetry::storage::tables
