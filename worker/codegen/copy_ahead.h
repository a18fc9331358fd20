#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// What a loop loads for tensor cores alone, copied to shared memory iterations before it is needed: Plan::stages tiles
// of it are there, in a ring. An iteration waits for its own tile, passes the one barrier that it needs for that
// (behind it nobody reads the tile of the iteration before any more), and sends for the tile that takes that one's
// place while it computes. Each iteration closes a group of copies, an empty one where nothing is left to copy, so that
// their number says how far the copies are. Does nothing where there is nothing to copy, or nothing ahead.
class CopyAhead {
 public:
  // The loop along `axis` to `end` with this body.
  CopyAhead(TileCode& code, const ir::Graph& body, int axis, std::string end);

  void Open();     // before the loop
  void Next();     // first thing in its body: from here on TileCode::copies_ahead knows of it
  void Advance();  // last thing in its body
  void Close();    // behind it

 private:
  // One of the copied sets, of the tile at the current `begin...`, to this place in the ring.
  void Copy(size_t index, const std::string& slot);
  // The same of the tile ahead.
  void Send(size_t index);
  std::string PlaceOf(size_t index, const std::string& slot) const;
  std::string Slot() const { return record::Cat("slot", axis_); }
  std::string Ahead() const { return record::Cat("ahead", axis_); }

  TileCode& code_;
  const int graph_;
  const int axis_;
  const std::string end_;
  const int64_t stages_;
  std::vector<int> sets_;
  std::vector<int64_t> offsets_;  // of each of them in a tile
  int64_t tile_bytes_ = 0;
  int64_t held_at_ = 0;
};

}  // namespace telemetry::worker::codegen
