#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/storage/refusal.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/run_table.h"
#include "server/storage/tables/sender_table.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Tables ir_graphs, ir_nodes and ir_edges. Part of the writer: one thread, inside its transaction.
class IrGraphTable {
 public:
  // `runs` and `sender` must outlive this.
  IrGraphTable(Database& database, RunTable& runs, const CurrentSender& sender);

  // Stores the graph, unless for its run and kind there is one with a smaller or equal SHA-256, or one of somebody
  // else.
  absl::Status Store(const v1::IrGraph& graph);

 private:
  // Removes the graph that has to give way. False: the stored one stays.
  absl::StatusOr<bool> MakeRoom(int64_t run, const v1::IrGraph& graph, const std::string& digest);
  absl::Status InsertNodes(int64_t run, int64_t ir_graph, const v1::IrGraph& graph);
  absl::Status InsertEdges(int64_t run, int64_t ir_graph, const v1::IrGraph& graph);

  RunTable& runs_;
  const CurrentSender& sender_;
  Statement find_;
  Statement insert_;
  Statement insert_node_;
  Statement insert_edge_;
  Statement drop_nodes_;
  Statement drop_edges_;
  Statement drop_;
};

}  // namespace telemetry::storage
