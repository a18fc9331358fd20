#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/emit/mma_operand.h"
#include "worker/codegen/emit/tile_code.h"
#include "worker/codegen/plan/producer_plan.h"

namespace telemetry::worker::codegen::emit {

// The code of a producer warp (plan::ProducerPlan) and of its counterpart in the other warps, the consumers. The
// producer copies tiles with TMA into a ring in shared memory, also the first tiles of the block's next product while
// the consumers store the last one. Two barriers (mbarrier) belong to each slot of the ring: `filled` ends a phase when
// all bytes of a tile have arrived, and `emptied` when all consumers have multiplied the tile. Both sides visit the
// same tiles in the same order, so each of them knows the phase: it changes after the last slot.
//
// The descriptors of the tensors are made on the device, in global memory that the block reserves while it runs. A
// launch therefore has the same arguments as without a producer warp.
class ProducerWarp {
 public:
  ProducerWarp(TileCode& code, const plan::ProducerPlan& plan);

  // Emits the preparation of the barriers and descriptors, the code of the producer, and the head of the branch for the
  // consumers' code, which follows.
  void Open();
  // Emits the end of the branch and of the kernel.
  void Close();

  // For the consumers: the loop with this body takes its tiles from the ring.
  bool Feeds(const ir::Graph& body) const { return body.id == plan_.loop.body; }
  // Emits the declaration of the slot whose product is in flight.
  void Begin();
  // Emits the body: starts the product of the next tile, then waits for the product of the previous tile and returns
  // its slot. The tensor cores thus have work while the threads wait for a tile.
  void Multiply(const TileValue& sums);
  // Emits what follows the loop: a wait for the last product. Its sums can be read afterwards.
  void End(const TileValue& sums);

 private:
  struct Operand {
    const TmaSource& source;
    MmaOperand place;
    int64_t offset = 0;  // in a slot of the ring, in bytes
  };

  void Prepare();
  void Produce();
  void CopyTile();
  void CopyOperand(size_t index);
  void DeclareSlot();
  void Advance();
  // Returns the length of the part of the tile that one copy moves, along the operand's contiguous axis.
  static int64_t BoxLength(const Operand& operand) { return operand.place.block_row_bytes() / kElementBytes; }
  std::string DescribeOperand(size_t index);
  // Return the addresses of an operand's descriptor, in shared and in global memory.
  std::string Draft(size_t index) const {
    return record::Cat("held + ", drafts_at_ + kDraftBytes * static_cast<int64_t>(index));
  }
  std::string Map(size_t index) const { return record::Cat("&tensor_maps[maps][", index, "]"); }
  int64_t Span(int axis) const { return code_.plan().spans[static_cast<size_t>(axis)]; }
  int64_t consumers() const { return code_.plan().threads; }
  std::string TileAddress(size_t index) const;

  static constexpr int64_t kElementBytes = 2;
  static constexpr int64_t kDraftBytes = 128;

  TileCode& code_;
  const plan::ProducerPlan& plan_;
  std::vector<Operand> operands_;
  int64_t tile_bytes_ = 0;
  int64_t ring_at_ = 0;
  int64_t drafts_at_ = 0;
  int64_t barriers_at_ = 0;
};

}  // namespace telemetry::worker::codegen::emit
