#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// The prefetches of a loop: operands that the loop loads only for tensor cores are copied to shared memory some
// iterations before their use, into a ring of Plan::stages tiles. An iteration waits for its own tile and passes one
// barrier. After the barrier no thread reads the tile of the previous iteration any more, so the iteration starts the
// copy of a later tile into that slot while it computes. Each iteration closes exactly one group of copies, which is
// empty if nothing is left to copy, so the number of closed groups tells which copies are complete. Nothing is
// prefetched if the loop has no such operand or Plan::stages is 1.
//
// With overlapping dots (plan::DotOverlap) an iteration uses the columns of the second dot that belong to the tile of
// the previous iteration. These are the late operands; their copies run one tile behind the others.
//
// Held operands of the loop are copied before it, in earlier groups. An iteration that waits for its own tile waits for
// them as well; a loop without prefetches waits for them before it begins.
class CopyAhead {
 public:
  // For the loop with this body along `axis`, which ends before the position `end` (a C expression).
  CopyAhead(TileCode& code, const ir::Graph& body, int axis, std::string end);

  void Open();     // call before the loop
  void Next();     // call at the start of the body; from here on TileCode::copies_ahead() lists the loop's copies
  void Advance();  // call at the end of the body
  void Last();     // call after the loop, before code that uses the late operands of its last tile
  void Close();    // call after the loop

 private:
  // Emits the copy of the operand sets_[index], for the tile at the current `begin...`, to this slot of the ring.
  void Copy(size_t index, const std::string& slot);
  // Emits the same copy for the tile that is prefetched in this iteration.
  void Send(size_t index);
  std::string TileAddress(size_t index, const std::string& slot) const;
  // Emits the copy of a late operand for the tile before `stage`, in the loop over stages before the loop.
  void CopyEarlyTile(size_t index);
  // Emits, under a condition, the copy for the tile that begins at `begin`.
  void CopyTile(size_t index, const std::string& condition, const std::string& begin, const std::string& slot);
  // Emits the wait for the copies that the current iteration uses, and the barrier.
  void WaitForTile();
  bool IsLate(size_t index) const { return late_[index]; }
  int64_t Block() const;
  std::string Slot() const { return record::Cat("slot", axis_); }
  std::string FreeSlot() const { return record::Cat("free_", Slot()); }
  // Returns the expression for the slot before this one in the ring.
  std::string Before(const std::string& slot) const;
  std::string Ahead() const { return record::Cat("ahead", axis_); }

  TileCode& code_;
  const int graph_;
  const int axis_;
  const std::string end_;
  const int64_t stages_;
  bool reads_held_ = false;       // the loop has dots with held operands
  std::vector<int> sets_;         // the layout sets of the copied operands
  std::vector<bool> late_;        // of each operand
  std::vector<int64_t> offsets_;  // of each operand in a ring slot, in bytes
  int64_t tile_bytes_ = 0;
  int64_t held_at_ = 0;
};

}  // namespace telemetry::worker::codegen::emit
