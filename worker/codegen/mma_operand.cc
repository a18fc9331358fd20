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

MmaOperand::MmaOperand(TileCode& code, MmaType type, std::string name, const std::vector<int>& axes, int own,
                       int summed)
    : code_(code), type_(type), name_(std::move(name)), own_(own), summed_(summed) {
  const auto at = [&axes](int axis) { return std::find(axes.begin(), axes.end(), axis); };
  summed_is_inside_ = at(summed) > at(own);
  row_ = code.plan().spans[static_cast<size_t>(inside())] + 16 / ElementBytes(type);
}

MmaOperand::MmaOperand(TileCode& code, std::string name, int copied_set)
    : MmaOperand(code, code.copies()[static_cast<size_t>(copied_set)]->type, std::move(name),
                 code.set(copied_set).order, code.copies()[static_cast<size_t>(copied_set)]->own,
                 code.copies()[static_cast<size_t>(copied_set)]->summed) {}

int64_t MmaOperand::bytes() const {
  return row_ * ElementBytes(type_) * code_.plan().spans[static_cast<size_t>(summed_is_inside_ ? own_ : summed_)];
}

int64_t MmaOperand::OwnStrideBytes() const { return (summed_is_inside_ ? row_ : 1) * ElementBytes(type_); }
int64_t MmaOperand::SummedStrideBytes() const { return (summed_is_inside_ ? 1 : row_) * ElementBytes(type_); }

void MmaOperand::Declare(const std::string& pointer) const {
  const std::string type = DialectText::StorageType(StorageOf(type_));
  code_.out().Line("LOCAL ", type, "* const ", name_, " = (LOCAL ", type, "*)(", pointer, ");");
}

void MmaOperand::Write(const TileValue& value) const {
  const AxisLayout& layout = code_.set(value.set).of(inside());
  const int64_t length = std::min(layout.VectorLength(), 16 / ElementBytes(type_));
  const std::string store = code_.dialect().StoreFunction(StorageOf(type_), length, Eviction::kNone);
  code_.ForRegisters(
      value.set, value.axes,
      [&] {
        const std::string to = AddressOf(code_.LocalPosition(value.set, own_), code_.LocalPosition(value.set, summed_));
        code_.out().Line(store, "(", to, ", &", code_.Element(value), ");");
      },
      inside(), length);
}

std::string MmaOperand::AddressOf(const std::string& own, const std::string& summed) const {
  const std::string& inside = summed_is_inside_ ? summed : own;
  const std::string& outside = summed_is_inside_ ? own : summed;
  return Cat(name_, " + (", outside, ") * ", row_, " + (", inside, ")");
}

}  // namespace telemetry::worker::codegen
