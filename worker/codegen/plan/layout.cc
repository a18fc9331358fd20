#include "worker/codegen/plan/layout.h"

#include <algorithm>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::plan {
namespace {

using record::Cat;

std::string OffsetExpression(const std::vector<Field>& fields, const std::string& index, bool last_is_open) {
  std::string sum;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    if (field.count == 1) continue;
    std::string part = field.divisor == 1 ? index : Cat("(", index, " / ", field.divisor, ")");
    if (!last_is_open || i + 1 < fields.size()) part = Cat("(", part, " % ", field.count, ")");
    if (field.stride != 1) part += Cat(" * ", field.stride);
    sum += Cat(sum.empty() ? "" : " + ", part);
  }
  return sum.empty() ? "0" : sum;
}

int64_t ProductOfCounts(const std::vector<Field>& fields) {
  int64_t count = 1;
  for (const Field& field : fields) count *= field.count;
  return count;
}

}  // namespace

int64_t AxisLayout::Registers() const { return ProductOfCounts(registers); }
int64_t AxisLayout::ThreadCount() const { return ProductOfCounts(threads); }

int64_t AxisLayout::ThreadBits() const {
  int64_t bits = 0;
  for (const Field& field : threads) bits |= field.divisor * (field.count - 1);
  return bits;
}

int64_t AxisLayout::VectorLength() const {
  return !registers.empty() && registers[0].stride == 1 ? registers[0].count : 1;
}

std::string AxisLayout::ThreadOffset(const std::string& thread) const {
  return OffsetExpression(threads, thread, false);
}
std::string AxisLayout::RegisterOffset(const std::string& index) const {
  return OffsetExpression(registers, index, true);
}

int64_t LayoutSet::Registers(const std::vector<int>& shape) const {
  int64_t count = 1;
  for (const int axis : shape) count *= of(axis).Registers();
  return count;
}

int64_t LayoutSet::ThreadBits(const std::vector<int>& shape) const {
  int64_t bits = 0;
  for (const int axis : shape) bits |= of(axis).ThreadBits();
  return bits;
}

std::vector<int> LayoutSet::Ordered(const std::vector<int>& shape) const {
  std::vector<int> ordered;
  for (const int axis : order) {
    if (std::find(shape.begin(), shape.end(), axis) != shape.end()) ordered.push_back(axis);
  }
  return ordered;
}

LayoutSet SimtLayout(const std::string& name, const std::vector<Slot>& slots, const std::vector<int64_t>& spans,
                     const std::vector<int64_t>& reaches, int64_t vector, int64_t threads) {
  LayoutSet set = {.name = name, .axes = std::vector<AxisLayout>(spans.size())};
  int64_t divisor = 1;
  for (size_t i = slots.size(); i-- > 0;) {
    int64_t used = 1;
    for (const int axis : slots[i].axes) {
      const int64_t span = spans[static_cast<size_t>(axis)];
      const int64_t piece = i + 1 == slots.size() ? std::min(vector, span) : 1;
      const int64_t across = std::min(span / piece, threads / divisor);
      const int64_t at_once = piece * across;
      const int64_t rounds = (reaches[static_cast<size_t>(axis)] + at_once - 1) / at_once;
      AxisLayout& layout = set.axes[static_cast<size_t>(axis)];
      layout.threads = {{.divisor = divisor, .count = across, .stride = piece}};
      layout.registers = {{.divisor = 1, .count = piece, .stride = 1},
                          {.divisor = piece, .count = rounds, .stride = at_once}};
      used = std::max(used, across);
    }
    divisor *= used;
  }
  for (const Slot& slot : slots) set.order.insert(set.order.end(), slot.axes.begin(), slot.axes.end());
  return set;
}

}  // namespace telemetry::worker::codegen::plan
