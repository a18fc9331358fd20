#pragma once

#include <functional>
#include <string>
#include <vector>

#include "worker/codegen/emit/tile_code.h"
#include "worker/codegen/plan/dot_overlap.h"

namespace telemetry::worker::codegen::emit {

// The two dots of a loop that overlap with the code between them (plan::DotOverlap), during the emission of the loop.
// An iteration starts the first dot for its own tile and the second dot for the tile of the previous iteration, in this
// order. When the first dot is complete, the code between the dots runs while the tensor cores still multiply for the
// second dot. It packs the rows of the second dot for the next iteration.
class OverlappedDots {
 public:
  // `sums` is the carried value that is the result of the second dot.
  OverlappedDots(TileCode& code, const ir::Graph& body, const plan::DotOverlap& overlap, TileValue sums);

  const plan::DotOverlap& overlap() const { return overlap_; }
  const TileValue& products() const { return products_; }  // the result of the first dot
  const TileValue& sums() const { return sums_; }          // the result of the second dot

  // Emits the declarations that the loop and the code around it share.
  void Declare();
  // Emits the start of the first dot and, if Pack() was called before, of the second dot, and waits for the first.
  void Start();
  // Emits a wait for the second dot if it runs. The code that computes `last` stays before the wait.
  void FinishSecond(const TileValue* last);
  // Emits the code that keeps the operands of the second dot for the next Start(). The second dot must not run.
  void Pack(const TileValue& rows, const TileValue& accumulator);
  // Emits the second dot for the last tile.
  void RunSecond();

 private:
  struct Dot {
    const plan::MmaDot& mma;
    int summed;
    TileValue rows;
    TileValue columns;
  };
  Dot MakeDot(int node) const;
  // Returns the prefetches that the dot leaves to be emitted.
  std::vector<std::function<void()>> StartDot(const Dot& dot, const TileValue& result, bool overwrites) const;

  TileCode& code_;
  const ir::Graph& body_;
  const plan::DotOverlap& overlap_;
  const TileValue sums_;
  const Dot first_;
  Dot second_;
  TileValue products_;
  std::string packed_;
  bool is_packed_ = false;
  bool second_runs_ = false;
};

}  // namespace telemetry::worker::codegen::emit
