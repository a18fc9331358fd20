#pragma once

#include "telemetry/v1/records.pb.h"
#include "worker/model/feature_row.h"

namespace telemetry::worker::model {

// The number of operations of a device IR graph by class. All are 0 for a graph without nodes.
struct GraphCounts {
  int nodes = 0;
  int regions = 0;  // sub-graphs: the root, and the bodies of loops and branches
  int loads = 0;
  int stores = 0;
  int pointwise = 0;       // all of them, the two following kinds included
  int transcendental = 0;  // exp, log, tanh and the like
  int comparisons = 0;     // comparisons, selections and masks
  int reductions = 0;
  int dots = 0;
};

// Counts the operations of a graph that this program or Helion has recorded.
GraphCounts CountOperations(const v1::IrGraph& graph);

// Adds the counts, which are not known for a null pointer.
void AddGraphFeatures(const GraphCounts* counts, FeatureRow* row);

}  // namespace telemetry::worker::model
