#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telemetry::worker::codegen {

// Which elements of a tile a thread holds, axis by axis. An axis' positions inside the block are split in two: bits of
// them are bits of the thread's index, the others number the thread's registers. A value with axes [m, n] takes
// Registers(m) * Registers(n) registers of each thread; along axes that it has not, threads hold copies. As all values
// of a region share their axes' layouts, broadcasting and pointwise work never move data between threads.

// A field of a power of two of values: ((index / divisor) % count) * stride positions of the axis. The last field of
// registers may have any number of values.
struct Field {
  int64_t divisor = 1;
  int64_t count = 1;
  int64_t stride = 1;
};

struct AxisLayout {
  std::vector<Field> threads;    // of the thread's index
  std::vector<Field> registers;  // of the register's index along this axis; divisors ascend from 1, without gaps

  int64_t Registers() const;
  int64_t ThreadCount() const;
  // Positions that threads and registers together number.
  int64_t Positions() const { return ThreadCount() * Registers(); }
  // Bits of the thread's index that say where along the axis the thread is.
  int64_t ThreadBits() const;
  // Registers that hold neighbouring positions, from each multiple of this count on.
  int64_t VectorLength() const;
  // C expressions: the thread's and the register's part of the position.
  std::string ThreadOffset(const std::string& thread) const;
  std::string RegisterOffset(const std::string& index) const;
};

// The layouts of all axes, by axis id. `name` tells the sets of a kernel apart in its source; `order` is the order in
// which registers are numbered, the last axis fastest.
struct LayoutSet {
  std::string name;
  std::vector<AxisLayout> axes;
  std::vector<int> order;

  const AxisLayout& of(int axis) const { return axes[static_cast<size_t>(axis)]; }
  int64_t Registers(const std::vector<int>& shape) const;
  int64_t ThreadBits(const std::vector<int>& shape) const;
  // `shape` in the order of registers.
  std::vector<int> Ordered(const std::vector<int>& shape) const;
};

// Axes that never meet in one value can share threads.
struct Slot {
  std::vector<int> axes;
};

// A layout of `slots`, the one whose neighbours lie next to each other in memory last: its elements go to registers by
// `vector` first, then to threads, and what threads are left go to the slots before it. `spans` (by axis) and `threads`
// are powers of two; registers that only number positions from `reaches` (by axis, at most the span) on are left out.
LayoutSet SimtLayout(const std::string& name, const std::vector<Slot>& slots, const std::vector<int64_t>& spans,
                     const std::vector<int64_t>& reaches, int64_t vector, int64_t threads);

}  // namespace telemetry::worker::codegen
