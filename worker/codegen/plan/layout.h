#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::worker::codegen::plan {

// Layouts: the assignment of the elements of a tile to threads and registers, axis by axis. A position along an axis
// inside the block is the sum of a part that the thread's index determines and a part that the register's index
// determines. A value with axes [m, n] uses Registers(m) * Registers(n) registers in each thread; threads that differ
// only along other axes hold copies. All values of a layout set share the layouts of their axes, so broadcasting and
// pointwise operations never move data between threads.

// A bit field of an index: contributes ((index / divisor) % count) * stride to the position along the axis. `count` is
// a power of two, except in the last field of AxisLayout::registers, which may have any count.
struct Field {
  int64_t divisor = 1;
  int64_t count = 1;
  int64_t stride = 1;
};

// The layout of one axis.
struct AxisLayout {
  std::vector<Field> threads;    // fields of the thread's index
  std::vector<Field> registers;  // fields of the register's index along this axis; divisors ascend from 1 without gaps

  // Returns the number of registers of a thread along this axis.
  int64_t Registers() const;
  // Returns the number of different positions that the thread's index selects.
  int64_t ThreadCount() const;
  // Returns the number of positions that threads and registers cover together.
  int64_t Positions() const { return ThreadCount() * Registers(); }
  // Returns the mask of the bits of the thread's index that select a position along this axis.
  int64_t ThreadBits() const;
  // Returns the number of consecutive registers, starting at each multiple of this number, that hold consecutive
  // positions.
  int64_t VectorLength() const;
  // Return C expressions for the part of the position that the thread or the register determines.
  std::string ThreadOffset(const std::string& thread) const;
  std::string RegisterOffset(const std::string& index) const;
};

// The layouts of all axes, by axis id. `name` is the suffix that the names of this set have in the generated source;
// `order` is the order in which registers are numbered, the last axis fastest.
struct LayoutSet {
  std::string name;
  std::vector<AxisLayout> axes;
  std::vector<int> order;

  const AxisLayout& of(int axis) const { return axes[static_cast<size_t>(axis)]; }
  // Return the number of registers, or the mask of thread bits, for a value with these axes.
  int64_t Registers(const std::vector<int>& shape) const;
  int64_t ThreadBits(const std::vector<int>& shape) const;
  // Returns the axes of `shape` in the order of registers.
  std::vector<int> Ordered(const std::vector<int>& shape) const;
};

// A group of axes that share bits of the thread's index, because no value has two of them.
struct Slot {
  std::vector<int> axes;
};

// Returns a layout of the axes of `slots`. The last slot has the axis that is contiguous in memory: `vector`
// consecutive elements go to the registers of one thread, then to consecutive threads. The remaining threads are
// divided among the earlier slots, the last of them first. `spans` (by axis) and `threads` are powers of two. Registers
// whose positions are all at or beyond `reaches` (by axis, at most the span) are left out.
LayoutSet SimtLayout(const std::string& name, const std::vector<Slot>& slots, const std::vector<int64_t>& spans,
                     const std::vector<int64_t>& reaches, int64_t vector, int64_t threads);

}  // namespace telemetry::worker::codegen::plan
