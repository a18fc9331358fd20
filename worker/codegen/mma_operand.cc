#include "worker/codegen/mma_operand.h"

#include <algorithm>

namespace telemetry::worker::codegen {
namespace {

using record::Cat;

int64_t ElementBytes(MmaType type) { return type == MmaType::kTf32 ? 4 : 2; }

DType StorageOf(MmaType type) {
  return type == MmaType::kTf32 ? DType::kF32 : type == MmaType::kF16 ? DType::kF16 : DType::kBF16;
}

}  // namespace

MmaOperand::MmaOperand(TileCode& code, MmaType type, std::string name, const TileValue& value, int own, int summed)
    : code_(code), type_(type), name_(std::move(name)), value_(value), own_(own), summed_(summed) {
  const auto at = [&value](int axis) { return std::find(value.axes.begin(), value.axes.end(), axis); };
  summed_is_inside_ = at(summed) > at(own);
  const int inside = summed_is_inside_ ? summed : own;
  row_ = code.plan().spans[static_cast<size_t>(inside)] + 16 / ElementBytes(type);
}

int64_t MmaOperand::bytes() const {
  return row_ * ElementBytes(type_) * code_.plan().spans[static_cast<size_t>(summed_is_inside_ ? own_ : summed_)];
}

void MmaOperand::Declare(int64_t offset_bytes) const {
  const std::string type = DialectText::StorageType(StorageOf(type_));
  code_.out().Line("LOCAL ", type, "* const ", name_, " = (LOCAL ", type, "*)(scratch + ", offset_bytes, ");");
}

void MmaOperand::Write() const {
  const int inside = summed_is_inside_ ? summed_ : own_;
  const AxisLayout& layout = code_.set(value_.set).of(inside);
  const int64_t length = std::min(layout.VectorLength(), 16 / ElementBytes(type_));
  const std::string store = code_.dialect().StoreFunction(StorageOf(type_), length);
  code_.ForRegisters(
      value_.set, value_.axes,
      [&] {
        const std::string to =
            AddressOf(code_.LocalPosition(value_.set, own_), code_.LocalPosition(value_.set, summed_));
        code_.out().Line(store, "(", to, ", &", code_.Element(value_), ");");
      },
      inside, length);
}

std::string MmaOperand::AddressOf(const std::string& own, const std::string& summed) const {
  const std::string& inside = summed_is_inside_ ? summed : own;
  const std::string& outside = summed_is_inside_ ? own : summed;
  return Cat(name_, " + (", outside, ") * ", row_, " + (", inside, ")");
}

}  // namespace telemetry::worker::codegen
