#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/emit/copy_ahead.h"
#include "worker/codegen/emit/overlapped_dots.h"
#include "worker/codegen/emit/producer_warp.h"
#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// The emitter of graphs. It emits code node by node, including control flow: the body of a loop or branch is emitted at
// its call, with the placeholders bound to the caller's values. It skips nodes that are not needed (Uses).
class RegionEmitter {
 public:
  // `producer` is the kernel's producer warp, or nullptr.
  explicit RegionEmitter(TileCode& code, ProducerWarp* producer = nullptr) : code_(code), producer_(producer) {}

  using Values = std::vector<TileValue>;
  // Emits the graph or its alternate (Plan::alternate) and returns the values of its output. UNIMPLEMENTED: an
  // operation is not supported; the message names the node.
  absl::StatusOr<Values> Emit(int graph, const Values& arguments);

 private:
  // The state of one graph during its emission.
  struct Frame {
    const ir::Graph& graph;
    const plan::GraphUses& uses;
    const Values& arguments;
    size_t placeholders = 0;                          // placeholders that are bound so far
    std::map<std::pair<int, int>, TileValue> values;  // by node and layout set
    std::map<int, Values> results;                    // by control flow node: its results
    std::vector<int> held;                            // the layout sets of held operands in shared memory
  };

  absl::Status EmitNode(int index, Frame* frame);
  absl::Status EmitValue(int index, int set, Frame* frame);
  absl::StatusOr<TileValue> MakeValue(int index, int set, Frame* frame);
  absl::StatusOr<TileValue> EmitPointwise(const ir::Node& node, int set, Frame* frame);
  TileValue EmitGenerated(const ir::Node& node, int set, const std::string& element);
  // Returns the expression for the first position of the tile along the node's axis, or for its end.
  std::string TileBound(const ir::Node& node) const;
  absl::StatusOr<TileValue> EmitMaskTo(const ir::Node& node, int set, Frame* frame);

  absl::Status EmitControlFlow(int index, Frame* frame);
  absl::Status EmitLoop(int index, Frame* frame);
  // Emits the head of a loop along the axis.
  void OpenLoop(int axis, const std::string& from, const std::string& end);
  // Emits the body of a loop, which reads and writes the carried values.
  absl::Status EmitBody(const ir::Node& loop, const Values& carried, Frame* frame);
  // Emits the body with the prefetches of the loop.
  absl::Status EmitIteration(const ir::Node& loop, CopyAhead* copies, const Values& carried, Frame* frame);
  // Emits the loop whose tiles the producer warp copies. It adds its products to `sums`.
  void EmitFedLoop(const ir::Node& loop, const std::string& end, const TileValue& sums);
  // Emits a loop with overlapping dots. The first iteration is before the loop, the last second dot after it.
  absl::Status EmitOverlappedLoop(const ir::Node& loop, const plan::DotOverlap& overlap, const std::string& end,
                                  CopyAhead* copies, Values* carried, Frame* frame);
  // Emits a node of the body of such a loop if it is one of the dots, and returns true. Otherwise makes sure that the
  // second dot of the previous tile is complete if the node uses its result, and returns false.
  bool EmitOverlapped(int index, Frame* frame);
  // Returns the last float value that the graph has computed so far among those in few registers, such as the sums of
  // rows, or nullptr. Such a value usually depends on most of the values before it.
  const TileValue* LastComputed(const Frame& frame) const;
  absl::Status EmitWhile(int index, Frame* frame);
  absl::Status EmitIf(int index, Frame* frame);
  // Emits another barrier, in OpenCL only, if the loop or branch whose text begins at this offset contains one. Without
  // it PoCL 3.1 may execute later branches for all threads as the first thread does.
  void MeetAgain(size_t begins_at);
  // Emits new variables with these values; loops use them for the values that they carry.
  Values Copies(const Values& values);
  // Emits the parallel assignment to = from: no variable is overwritten before it is read.
  void AssignAll(const Values& to, const Values& from);

  // Emits the copy of a held operand to shared memory, which stays reserved until the graph ends.
  void HoldOperand(int set, Frame* frame);
  void ReleaseOperands(const Frame& frame);
  // Returns the values that a loop captures. A held operand that nothing else uses is in no register: its value has no
  // name.
  Values CapturedValues(const ir::Arg& list, Frame* frame);

  TileValue ArgValue(const ir::Arg& arg, int set, Frame* frame);
  Values ArgValues(const ir::Arg& list, Frame* frame);
  std::string ElementOfArg(const ir::Arg& arg, text::RegisterType type, int set, const Frame& frame) const;
  const TileValue& Find(ir::NodeRef ref, int set, const Frame& frame) const;

  TileCode& code_;
  ProducerWarp* const producer_;
  OverlappedDots* overlapped_ = nullptr;  // those of the surrounding loop
};

}  // namespace telemetry::worker::codegen::emit
