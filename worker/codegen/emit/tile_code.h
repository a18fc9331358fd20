#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/codegen/plan/layout.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/tiling.h"
#include "worker/codegen/plan/uses.h"
#include "worker/codegen/text/code_writer.h"
#include "worker/codegen/text/dialect.h"

namespace telemetry::worker::codegen::emit {

// A value in the generated code: a variable, or an array with one element per register.
struct TileValue {
  std::string name;
  text::RegisterType type = text::RegisterType::kFloat;
  std::vector<int> axes;  // in the order of registers; empty: a plain variable
  int set = 0;            // the layout set
};

// The prefetches and the held operands of the surrounding loops during the emission of their bodies.
struct CopiesAhead {
  // By layout set: a pointer expression for a held operand, or for the prefetched tile of the current iteration.
  std::map<int, std::string> places;
  // By id of the loop's body: callbacks that emit the prefetches that the iteration has not started yet, in order. A
  // dot emits them between its own steps, so that the threads do not wait until all copies are started.
  std::map<int, std::vector<std::function<void()>>> unsent;
};

// The state that all parts of the generator share: the text so far, the names of variables, and the expressions for
// loops over a thread's registers, for positions and for ends. Not thread-safe. The arguments of the constructor must
// outlive it.
class TileCode {
 public:
  TileCode(const plan::Plan& plan, const plan::Uses& uses, const plan::Layouts& layouts, text::DialectText* dialect)
      : plan_(plan),
        uses_(uses),
        sets_(layouts.sets),
        mma_(layouts.mma),
        copies_(layouts.copies),
        overlaps_(layouts.overlaps),
        dialect_(*dialect) {}

  const plan::Plan& plan() const { return plan_; }
  const ir::DeviceIr& ir() const { return *plan_.ir; }
  const plan::Uses& uses() const { return uses_; }
  const plan::LayoutSet& set(int index) const { return sets_[static_cast<size_t>(index)]; }
  const plan::MmaPlan& mma() const { return mma_; }
  const std::vector<std::optional<plan::SharedCopy>>& copies() const { return copies_; }
  // Returns the overlap of the dots of a loop with this body, or nullptr.
  const plan::DotOverlap* OverlapOf(int body) const {
    const auto found = overlaps_.find(body);
    return found == overlaps_.end() ? nullptr : &found->second;
  }
  // Reports whether the values of the set are copied to shared memory and are never in registers.
  bool IsCopied(int set) const { return copies_[static_cast<size_t>(set)].has_value(); }
  text::DialectText& dialect() { return dialect_; }
  text::CodeWriter& out() { return out_; }

  std::string NewName() { return record::Cat("v", next_name_++); }
  // Emits the declaration of an uninitialised value with these axes.
  TileValue Declare(text::RegisterType type, const std::vector<int>& shape, int set);
  // Returns the value's element at the current register: "v3[i0 * 4 + i1]".
  std::string Element(const TileValue& value) const;
  std::string ElementAs(const TileValue& value, text::RegisterType type) const;
  // Returns the same with the index of one axis replaced: "v3[... + 0]".
  std::string Element(const TileValue& value, int replaced_axis, const std::string& index) const;

  // Emits loops over the registers of these axes in the set's order, with increment `step` along `step_axis`. `body`
  // emits the body.
  void ForRegisters(int set, const std::vector<int>& axes, const std::function<void()>& body, int step_axis = -1,
                    int64_t step = 1);
  // Emits the assignment to = from; broadcasts along axes that `from` does not have.
  void Assign(const TileValue& to, const TileValue& from);

  static std::string RegisterIndex(int axis) { return record::Cat("i", axis); }
  // Returns the part of a position that the thread determines.
  std::string ThreadPosition(int set, int axis) const;
  // Return the position of the current register: inside the block, and along the axis.
  std::string LocalPosition(int set, int axis) const;
  std::string Position(int set, int axis) const;
  // Return the first position of the current block, and the end of its valid positions.
  static std::string Begin(int axis) { return record::Cat("begin", axis); }
  std::string End(int axis) const;
  // Returns the expression of an axis extent.
  std::string Extent(const ir::Size& size) const;
  // Returns the C type of `begin...` and of positions.
  std::string PositionType() const;
  // Returns the condition that the position is valid: "p < end && ...", for the axes that have invalid positions; empty
  // if there are none. Checks the last of `step` elements along `step_axis`.
  std::string InRange(int set, const std::vector<int>& axes, int step_axis = -1, int64_t step = 1) const;
  // Reports whether some positions of the set, in some block, are beyond the end.
  bool IsRagged(int set, int axis) const;
  // Returns the name of the thread's index in its block. `thread` is its index among all threads of the tile, which a
  // cluster of several blocks may share.
  std::string BlockThread() const { return plan_.cluster_blocks > 1 ? "local" : "thread"; }
  // Returns the condition that selects one of the threads that hold copies of a value with these axes, the first:
  // "(thread & 96) == 0". Empty if there are no copies.
  std::string FirstCopy(int set, const std::vector<int>& axes) const;

  // Reserves shared memory named `scratch`, at least this many bytes, for use within one statement.
  void NeedScratch(int64_t bytes);
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Reserves shared memory named `exchange`, which the other blocks of the cluster read. Between statements that use it
  // a `cluster_arrive` is pending.
  void NeedExchange(int64_t bytes);
  int64_t exchange_bytes() const { return exchange_bytes_; }
  // Reserves shared memory, apart from `scratch`, until Release(). Returns its offset in bytes from `held`.
  int64_t Hold(int64_t bytes);
  void Release(int64_t bytes) { held_bytes_ -= bytes; }
  int64_t most_held_bytes() const { return most_held_bytes_; }
  // The prefetches of the surrounding loops (CopyAhead).
  CopiesAhead& copies_ahead() { return copies_ahead_; }

 private:
  const plan::Plan& plan_;
  const plan::Uses& uses_;
  const std::vector<plan::LayoutSet>& sets_;
  const plan::MmaPlan& mma_;
  const std::vector<std::optional<plan::SharedCopy>>& copies_;
  const std::map<int, plan::DotOverlap>& overlaps_;
  text::DialectText& dialect_;
  text::CodeWriter out_;
  int next_name_ = 0;
  int64_t scratch_bytes_ = 0;
  int64_t exchange_bytes_ = 0;
  int64_t held_bytes_ = 0;
  int64_t most_held_bytes_ = 0;
  CopiesAhead copies_ahead_;
};

}  // namespace telemetry::worker::codegen::emit
