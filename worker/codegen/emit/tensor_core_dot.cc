#include "worker/codegen/emit/tensor_core_dot.h"

#include <utility>

#include "worker/codegen/emit/shared_copy.h"
#include "worker/codegen/text/mma_functions.h"

namespace telemetry::worker::codegen::emit {
namespace {

using device::DType;
using record::Cat;

MmaOperand MakeOperand(TileCode& code, const plan::MmaDot& dot, const std::string& name, const TileValue& value,
                       int own, int summed) {
  if (code.IsCopied(value.set)) return {code, name, value.set};
  return {code, dot.type, name, value.axes, own, summed};
}

}  // namespace

TensorCoreDot::TensorCoreDot(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows,
                             const TileValue& columns, const TileValue& result)
    : code_(code),
      out_(code.out()),
      dot_(dot),
      summed_(summed),
      rows_(rows),
      columns_(columns),
      result_(result),
      shared_rows_(MakeOperand(code, dot, "rows_shared", rows, dot.row, summed)),
      shared_columns_(MakeOperand(code, dot, "columns_shared", columns, dot.column, summed)) {}

bool TensorCoreDot::RowsAreInPlace() const {
  return rows_.set == 0 && !rows_.axes.empty() && plan::RowsStayInRegisters(code_.mma(), code_.set(0), summed_);
}

void TensorCoreDot::Place() {
  int64_t scratch_bytes = 0;
  const bool fills_rows = !RowsAreInPlace() && Declare(rows_, shared_rows_, &scratch_bytes);
  const bool fills_columns = Declare(columns_, shared_columns_, &scratch_bytes);
  if (!fills_rows && !fills_columns) return;
  code_.NeedScratch(scratch_bytes);
  out_.Line("BARRIER();");
  if (fills_rows) Fill(rows_, shared_rows_);
  if (fills_columns) Fill(columns_, shared_columns_);
  const bool copies = (fills_rows && code_.IsCopied(rows_.set)) || (fills_columns && code_.IsCopied(columns_.set));
  if (copies) {
    CloseCopies(code_);
    WaitForCopies(code_, 0);
  }
  ShareOperands(code_);
}

bool TensorCoreDot::Declare(const TileValue& value, const MmaOperand& operand, int64_t* scratch_bytes) {
  const CopiesAhead& copies = code_.copies_ahead();
  if (const auto ahead = copies.places.find(value.set); ahead != copies.places.end()) {
    operand.Declare(ahead->second);
    TakeUnsent(code_.copies()[static_cast<size_t>(value.set)]->user);
    return false;
  }
  operand.Declare(Cat("scratch + ", *scratch_bytes));
  *scratch_bytes += operand.bytes();
  return true;
}

void TensorCoreDot::TakeUnsent(int graph) {
  const auto unsent = code_.copies_ahead().unsent.find(graph);
  if (unsent == code_.copies_ahead().unsent.end()) return;
  unsent_ = std::move(unsent->second);
  code_.copies_ahead().unsent.erase(unsent);
}

void TensorCoreDot::Fill(const TileValue& value, const MmaOperand& operand) {
  if (code_.IsCopied(value.set)) {
    EmitCopy(code_, value.set, operand);
  } else {
    operand.Write(value);
  }
}

std::string TensorCoreDot::ElementExpression(const TileValue& value, int first, const std::string& first_index,
                                             int second, const std::string& second_index) const {
  std::string linear;
  int64_t stride = 1;
  for (size_t i = value.axes.size(); i-- > 0;) {
    const int axis = value.axes[i];
    if (axis == first || axis == second) {
      linear += Cat(linear.empty() ? "" : " + ", axis == first ? first_index : second_index, " * ", stride);
    }
    stride *= code_.set(value.set).of(axis).Registers();
  }
  return Cat(value.name, "[", linear, "]");
}

void TensorCoreDot::PackRows(const std::string& step, const std::string& to) {
  const auto element = [this](int row_half, const std::string& column) {
    return ElementExpression(rows_, dot_.row, Cat("(2 * r + ", row_half, ")"), summed_, Cat("(", column, ")"));
  };
  for (int i = 0; i < 4; ++i) {
    if (is_tf32()) {
      out_.Line(to, "[r][", i, "] = ", text::ToTf32Function(code_.dialect()), "(",
                element(i % 2, Cat("2 * ", step, " + ", i / 2)), ");");
      continue;
    }
    const std::string column = Cat("4 * ", step, " + ", i / 2 * 2);
    out_.Line(to, "[r][", i,
              "] = ", code_.dialect().PackFunction(dot_.type == text::MmaType::kF16 ? DType::kF16 : DType::kBF16), "(",
              element(i % 2, column), ", ", element(i % 2, Cat(column, " + 1")), ");");
  }
}

}  // namespace telemetry::worker::codegen::emit
