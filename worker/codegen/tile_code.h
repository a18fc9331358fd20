#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/codegen/code_writer.h"
#include "worker/codegen/dialect.h"
#include "worker/codegen/layout.h"
#include "worker/codegen/plan.h"
#include "worker/codegen/tiling.h"
#include "worker/codegen/uses.h"

namespace telemetry::worker::codegen {

// A value in the generated code: a variable, or an array with one element per register.
struct TileValue {
  std::string name;
  bool is_float = true;
  std::vector<int> axes;  // in the order of registers; none: a plain variable
  int set = 0;            // of layouts
};

// What is known of copies ahead of a loop while its body is emitted.
struct CopiesAhead {
  std::map<int, std::string> places;  // by layout set: where the iteration's own tile is, as a pointer
  // By graph, the loop's body: each writes a part of the copies that the iteration has yet to send for, in order. Who
  // computes places them between what it does, so that nobody waits until all are on their way.
  std::map<int, std::vector<std::function<void()>>> unsent;
};

// What all parts of the generator share: the text so far, the names, and the words of the generated code for loops over
// a thread's registers, positions and ends. Not thread-safe.
class TileCode {
 public:
  TileCode(const Plan& plan, const Uses& uses, const Layouts& layouts, DialectText* dialect)
      : plan_(plan), uses_(uses), sets_(layouts.sets), mma_(layouts.mma), copies_(layouts.copies), dialect_(*dialect) {}

  const Plan& plan() const { return plan_; }
  const ir::DeviceIr& ir() const { return *plan_.ir; }
  const Uses& uses() const { return uses_; }
  const LayoutSet& set(int index) const { return sets_[static_cast<size_t>(index)]; }
  const MmaPlan& mma() const { return mma_; }
  const std::vector<std::optional<SharedCopy>>& copies() const { return copies_; }
  // The values of the set are copied to shared memory and never in registers.
  bool IsCopied(int set) const { return copies_[static_cast<size_t>(set)].has_value(); }
  DialectText& dialect() { return dialect_; }
  CodeWriter& out() { return out_; }

  std::string NewName() { return record::Cat("v", next_name_++); }
  // Declares a value of that shape; without `initial`, and an array always, uninitialised.
  TileValue Declare(bool is_float, const std::vector<int>& shape, int set);
  // "v3[i0 * 4 + i1]": the value's element where the loops over registers stand.
  std::string Element(const TileValue& value) const;
  std::string ElementAs(const TileValue& value, bool is_float) const;
  // "v3[... + 0]" with the index of one axis replaced.
  std::string Element(const TileValue& value, int replaced_axis, const std::string& index) const;

  // Loops over the registers of these axes, in the set's order; `step` of them at a time along `step_axis`.
  void ForRegisters(int set, const std::vector<int>& axes, const std::function<void()>& body, int step_axis = -1,
                    int64_t step = 1);
  // Copies or broadcasts.
  void Assign(const TileValue& to, const TileValue& from);

  static std::string RegisterIndex(int axis) { return record::Cat("i", axis); }
  // The position inside the block, and along the axis, of the current register.
  std::string LocalPosition(int set, int axis) const;
  std::string Position(int set, int axis) const;
  // Where the current block begins and where what is valid of it ends.
  static std::string Begin(int axis) { return record::Cat("begin", axis); }
  std::string End(int axis) const;
  // An axis' extent as an expression; `begin...` and positions have PositionType.
  std::string Extent(const ir::Size& size) const;
  std::string PositionType() const;
  // "p < end && ...": of the axes where it is not certain; empty where it is for all. `ahead`: of `step_axis`, that
  // many elements.
  std::string InRange(int set, const std::vector<int>& axes, int step_axis = -1, int64_t step = 1) const;
  // Some block's positions, as the set numbers them, reach beyond the end.
  bool IsRagged(int set, int axis) const;
  // The thread's index in its block; `thread` is that in the tile, whose blocks may be several.
  std::string BlockThread() const { return plan_.cluster_blocks > 1 ? "local" : "thread"; }
  // "(thread & 96) == 0": of all threads that hold copies of such a value, the first; empty where there are no copies.
  std::string FirstCopy(int set, const std::vector<int>& axes) const;

  // Shared memory that is free again after the statement; at least so many bytes are there under the name `scratch`.
  void NeedScratch(int64_t bytes);
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // The same for what other blocks of the cluster read, under the name `exchange`. Between statements that use it, a
  // `cluster_arrive` is under way.
  void NeedExchange(int64_t bytes);
  int64_t exchange_bytes() const { return exchange_bytes_; }
  // Shared memory that is kept until Release, beside scratch: where so many bytes begin, as an offset from `held`.
  int64_t Hold(int64_t bytes);
  void Release(int64_t bytes) { held_bytes_ -= bytes; }
  int64_t most_held_bytes() const { return most_held_bytes_; }
  // Of the loops around (CopyAhead).
  CopiesAhead& copies_ahead() { return copies_ahead_; }

 private:
  const Plan& plan_;
  const Uses& uses_;
  const std::vector<LayoutSet>& sets_;
  const MmaPlan& mma_;
  const std::vector<std::optional<SharedCopy>>& copies_;
  DialectText& dialect_;
  CodeWriter out_;
  int next_name_ = 0;
  int64_t scratch_bytes_ = 0;
  int64_t exchange_bytes_ = 0;
  int64_t held_bytes_ = 0;
  int64_t most_held_bytes_ = 0;
  CopiesAhead copies_ahead_;
};

}  // namespace telemetry::worker::codegen
