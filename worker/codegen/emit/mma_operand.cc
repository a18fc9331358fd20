#include "worker/codegen/emit/mma_operand.h"

#include <algorithm>

#include "worker/codegen/text/wgmma_functions.h"

namespace telemetry::worker::codegen::emit {
namespace {

using device::DType;
using record::Cat;

constexpr int64_t kBlockRowBytes = 128;
constexpr int64_t kBlockAlignment = 1024;
constexpr int64_t kSwizzledRows = 8;  // the swizzle repeats after this many rows

int64_t ElementBytes(text::MmaType type) { return type == text::MmaType::kTf32 ? 4 : 2; }

DType StorageDType(text::MmaType type) {
  return type == text::MmaType::kTf32 ? DType::kF32 : type == text::MmaType::kF16 ? DType::kF16 : DType::kBF16;
}

// Adds the helper int(int outside, int inside, int rows) and returns its name. It returns the index of the element at
// this position in blocks of `rows` rows.
std::string SwizzleFunction(text::DialectText& dialect, int64_t row_bytes) {
  std::string name = Cat("swizzled_", row_bytes);
  dialect.AddFunction(name, Cat("FN int ", name, "(int outside, int inside, int rows) {\n  const int at = (inside / ",
                                row_bytes / 2, " * rows + outside) * ", row_bytes / 2, " + inside % ", row_bytes / 2,
                                ";\n  return at ^ (at >> 6 & ", row_bytes / 16 - 1, ") << 3;\n}\n"));
  return name;
}

}  // namespace

MmaOperand::MmaOperand(TileCode& code, text::MmaType type, std::string name, const std::vector<int>& axes, int own,
                       int summed)
    : code_(code), type_(type), name_(std::move(name)), own_(own), summed_(summed) {
  const auto at = [&axes](int axis) { return std::find(axes.begin(), axes.end(), axis); };
  summed_is_inside_ = at(summed) > at(own);
  const int64_t inside_span = code.plan().spans[static_cast<size_t>(inside())];
  outside_span_ = code.plan().spans[static_cast<size_t>(summed_is_inside_ ? own : summed)];
  row_ = inside_span + 16 / ElementBytes(type);
  if (code.mma().by_warpgroups) block_row_bytes_ = std::min(kBlockRowBytes, inside_span * ElementBytes(type));
}

MmaOperand::MmaOperand(TileCode& code, std::string name, int copied_set)
    : MmaOperand(code, code.copies()[static_cast<size_t>(copied_set)]->type, std::move(name),
                 code.set(copied_set).order, code.copies()[static_cast<size_t>(copied_set)]->own,
                 code.copies()[static_cast<size_t>(copied_set)]->summed) {}

int64_t MmaOperand::bytes() const {
  if (block_row_bytes_ == 0) return row_ * ElementBytes(type_) * outside_span_;
  const int64_t inside_bytes = code_.plan().spans[static_cast<size_t>(inside())] * ElementBytes(type_);
  const int64_t bytes = inside_bytes * outside_span_;
  return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

int64_t MmaOperand::OwnStrideBytes() const { return (summed_is_inside_ ? row_ : 1) * ElementBytes(type_); }
int64_t MmaOperand::SummedStrideBytes() const { return (summed_is_inside_ ? 1 : row_) * ElementBytes(type_); }

void MmaOperand::Declare(const std::string& pointer) const {
  const std::string type = text::DialectText::StorageType(StorageDType(type_));
  code_.out().Line("LOCAL ", type, "* const ", name_, " = (LOCAL ", type, "*)(", pointer, ");");
}

void MmaOperand::Write(const TileValue& value) const {
  const plan::AxisLayout& layout = code_.set(value.set).of(inside());
  const int64_t length = std::min(layout.VectorLength(), 16 / ElementBytes(type_));
  const std::string store = code_.dialect().StoreFunction(StorageDType(type_), length, text::Eviction::kNone);
  code_.ForRegisters(
      value.set, value.axes,
      [&] {
        const std::string to =
            ElementAddress(code_.LocalPosition(value.set, own_), code_.LocalPosition(value.set, summed_));
        code_.out().Line(store, "(", to, ", &", code_.Element(value), ");");
      },
      inside(), length);
}

std::string MmaOperand::ElementAddress(const std::string& own, const std::string& summed) const {
  const std::string& inside = summed_is_inside_ ? summed : own;
  const std::string& outside = summed_is_inside_ ? own : summed;
  if (block_row_bytes_ > 0) {
    const std::string swizzled = SwizzleFunction(code_.dialect(), block_row_bytes_);
    return Cat(name_, " + ", swizzled, "(", outside, ", ", inside, ", ", outside_span_, ")");
  }
  return Cat(name_, " + (", outside, ") * ", row_, " + (", inside, ")");
}

std::string MmaOperand::RegisterAddress(int set) const {
  const plan::AxisLayout& layout = code_.set(set).of(outside());
  const bool same_swizzle = std::all_of(layout.registers.begin(), layout.registers.end(), [](const plan::Field& field) {
    return field.count == 1 || field.stride % kSwizzledRows == 0;
  });
  if (!same_swizzle || layout.Registers() == 1) {
    return ElementAddress(code_.LocalPosition(set, own_), code_.LocalPosition(set, summed_));
  }
  const std::string thread = code_.ThreadPosition(set, outside());
  const std::string inside_position = code_.LocalPosition(set, inside());
  return Cat(ElementAddress(summed_is_inside_ ? thread : inside_position, summed_is_inside_ ? inside_position : thread),
             " + (", layout.RegisterOffset(TileCode::RegisterIndex(outside())), ") * ",
             block_row_bytes_ / ElementBytes(type_));
}

std::string MmaOperand::BlockOffset(const std::string& own, const std::string& summed) const {
  const std::string& inside = summed_is_inside_ ? summed : own;
  const std::string& outside = summed_is_inside_ ? own : summed;
  const int64_t row = block_row_bytes_ / ElementBytes(type_);
  return Cat("((", inside, ") / ", row, " * ", block_bytes(), " + (", outside, ") * ", block_row_bytes_, " + (", inside,
             ") % ", row, " * ", ElementBytes(type_), ")");
}

void ShareOperands(TileCode& code) {
  if (code.mma().by_warpgroups) code.out().Line(text::ShareFunction(code.dialect()), "();");
  code.out().Line("BARRIER();");
}

}  // namespace telemetry::worker::codegen::emit
