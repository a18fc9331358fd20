#pragma once

#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// Emits graphs, node by node, control flow included: bodies of loops and branches stand where they are called, with the
// placeholders bound to the caller's values. Only what is needed (Uses) is emitted. UNIMPLEMENTED names the node.
class RegionEmitter {
 public:
  explicit RegionEmitter(TileCode& code) : code_(code) {}

  using Values = std::vector<TileValue>;
  // The graph or its alternate; the values of its output.
  absl::StatusOr<Values> Emit(int graph, const Values& arguments);

 private:
  // One graph being emitted.
  struct Frame {
    const ir::Graph& graph;
    const GraphUses& uses;
    const Values& arguments;
    size_t placeholders = 0;
    std::map<std::pair<int, int>, TileValue> values;  // by node and layout set
    std::map<int, Values> results;                    // of control flow, by node
  };

  absl::Status EmitNode(int index, Frame* frame);
  absl::Status EmitValue(int index, int set, Frame* frame);
  absl::StatusOr<TileValue> MakeValue(int index, int set, Frame* frame);
  absl::StatusOr<TileValue> EmitPointwise(const ir::Node& node, int set, Frame* frame);
  TileValue EmitGenerated(const ir::Node& node, int set, const std::string& element);
  // Where a tile begins or ends along the node's axis.
  std::string TileBound(const ir::Node& node) const;
  absl::StatusOr<TileValue> EmitMaskTo(const ir::Node& node, int set, Frame* frame);

  absl::Status EmitControlFlow(int index, Frame* frame);
  absl::Status EmitLoop(int index, Frame* frame);
  absl::Status EmitWhile(int index, Frame* frame);
  absl::Status EmitIf(int index, Frame* frame);
  // OpenCL: another barrier, if the loop or branch whose text begins there has one. Without it PoCL 3.1 may take
  // branches behind it for all threads as the first thread does.
  void MeetAgain(size_t begins_at);
  // Variables of their own with these values: what a loop carries.
  Values Copies(const Values& values);
  // to = from, all at once: none is overwritten before it was read.
  void AssignAll(const Values& to, const Values& from);

  TileValue ValueOf(const ir::Arg& arg, int set, Frame* frame);
  Values ValuesOf(const ir::Arg& list, Frame* frame);
  std::string ElementOfArg(const ir::Arg& arg, bool as_float, int set, const Frame& frame) const;
  const TileValue& Find(ir::NodeRef ref, int set, const Frame& frame) const;

  TileCode& code_;
};

}  // namespace telemetry::worker::codegen
