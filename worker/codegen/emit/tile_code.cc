#include "worker/codegen/emit/tile_code.h"

#include <algorithm>

namespace telemetry::worker::codegen::emit {

using record::Cat;

TileValue TileCode::Declare(text::RegisterType type, const std::vector<int>& shape, int set) {
  TileValue value = {.name = NewName(), .type = type, .axes = sets_[static_cast<size_t>(set)].Ordered(shape)};
  value.set = shape.empty() ? 0 : set;
  if (shape.empty()) {
    out_.Line(TypeName(type), " ", value.name, ";");
  } else {
    out_.Line(TypeName(type), " ", value.name, "[", this->set(set).Registers(shape), "];");
  }
  return value;
}

std::string TileCode::Element(const TileValue& value) const { return Element(value, -1, ""); }

std::string TileCode::Element(const TileValue& value, int replaced_axis, const std::string& index) const {
  if (value.axes.empty()) return value.name;
  std::string linear;
  for (const int axis : value.axes) {
    const int64_t registers = set(value.set).of(axis).Registers();
    if (registers == 1) continue;
    if (!linear.empty())
      linear = Cat(linear.find(' ') == std::string::npos ? linear : Cat("(", linear, ")"), " * ", registers, " + ");
    linear += axis == replaced_axis ? index : RegisterIndex(axis);
  }
  return Cat(value.name, "[", linear.empty() ? "0" : linear, "]");
}

std::string TileCode::ElementAs(const TileValue& value, text::RegisterType type) const {
  if (value.type == type) return Element(value);
  return Cat("(", TypeName(type), ")", Element(value));
}

void TileCode::ForRegisters(int set, const std::vector<int>& axes, const std::function<void()>& body, int step_axis,
                            int64_t step) {
  int opened = 0;
  for (const int axis : this->set(set).Ordered(axes)) {
    const int64_t registers = this->set(set).of(axis).Registers();
    if (registers == 1) continue;
    const std::string i = RegisterIndex(axis);
    const int64_t by = axis == step_axis ? step : 1;
    out_.Line("UNROLL");
    out_.Open("for (int ", i, " = 0; ", i, " < ", registers, "; ", by == 1 ? Cat("++", i) : Cat(i, " += ", by), ")");
    ++opened;
  }
  body();
  while (opened-- > 0) out_.Close();
}

void TileCode::Assign(const TileValue& to, const TileValue& from) {
  ForRegisters(to.set, to.axes, [&] { out_.Line(Element(to), " = ", ElementAs(from, to.type), ";"); });
}

std::string TileCode::ThreadPosition(int set, int axis) const {
  const plan::LayoutSet& layout = this->set(set);
  return layout.of(axis).ThreadCount() > 1 ? Cat("offset", layout.name, "_", axis) : "0";
}

std::string TileCode::LocalPosition(int set, int axis) const {
  const plan::AxisLayout& layout = this->set(set).of(axis);
  std::string position = layout.ThreadCount() > 1 ? Cat("offset", this->set(set).name, "_", axis) : "";
  if (layout.Registers() > 1) {
    position += Cat(position.empty() ? "" : " + ", layout.RegisterOffset(RegisterIndex(axis)));
  }
  return position.empty() ? "0" : position;
}

std::string TileCode::Position(int set, int axis) const {
  const std::string local = LocalPosition(set, axis);
  return local == "0" ? Begin(axis) : Cat("(", Begin(axis), " + ", local, ")");
}

std::string TileCode::Extent(const ir::Size& size) const {
  if (size.is_static) return std::to_string(size.value);
  return Cat("size", size.tensor, "_", size.dimension);
}

std::string TileCode::End(int axis) const {
  const auto id = static_cast<size_t>(axis);
  std::string extent = Extent(ir().axes[id].extent);
  if (plan_.blocks[id] == plan_.spans[id]) return extent;
  // The block is smaller than its span, the next power of two.
  const std::string reach = Cat(Begin(axis), " + ", plan_.blocks[id]);
  return Cat("(", reach, " < ", extent, " ? ", reach, " : ", extent, ")");
}

std::string TileCode::PositionType() const {
  const bool wide = std::any_of(ir().axes.begin(), ir().axes.end(), [](const ir::Axis& axis) { return IsWide(axis); });
  return wide ? "i64" : "int";
}

bool TileCode::IsRagged(int set, int axis) const {
  const auto id = static_cast<size_t>(axis);
  const ir::Size& extent = ir().axes[id].extent;
  const bool one_at_a_time = plan_.spans[id] == 1;
  if (one_at_a_time) return extent.is_static && extent.value == 0;
  if (!extent.is_static || extent.value == 0) return true;
  const int64_t positions = this->set(set).of(axis).Positions();
  if (extent.value <= plan_.blocks[id]) return positions > extent.value;
  return positions > plan_.blocks[id] || extent.value % plan_.blocks[id] != 0;
}

std::string TileCode::InRange(int set, const std::vector<int>& axes, int step_axis, int64_t step) const {
  std::string condition;
  for (const int axis : axes) {
    if (!IsRagged(set, axis)) continue;
    const std::string ahead = axis == step_axis && step > 1 ? Cat(" + ", step - 1) : "";
    condition += Cat(condition.empty() ? "" : " && ", Position(set, axis), ahead, " < ", End(axis));
  }
  return condition;
}

std::string TileCode::FirstCopy(int set, const std::vector<int>& axes) const {
  const int64_t copies = (plan_.tile_threads() - 1) & ~this->set(set).ThreadBits(axes);
  return copies == 0 ? "" : Cat("(thread & ", copies, ") == 0");
}

void TileCode::NeedScratch(int64_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }

void TileCode::NeedExchange(int64_t bytes) { exchange_bytes_ = std::max(exchange_bytes_, bytes); }

int64_t TileCode::Hold(int64_t bytes) {
  const int64_t offset = held_bytes_;
  held_bytes_ += bytes;
  most_held_bytes_ = std::max(most_held_bytes_, held_bytes_);
  return offset;
}

}  // namespace telemetry::worker::codegen::emit
