#include <algorithm>

#include "worker/codegen/emit/tensor_core_dot.h"
#include "worker/codegen/text/wgmma_functions.h"

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

constexpr int64_t kMostColumns = 256;  // of one instruction
constexpr int64_t kColumnsOfTile = 8;  // of a column tile in MmaLayout

// Emits the settle call for `count` registers from `first` on.
void Settle(TileCode& code, const std::string& first, int64_t count) {
  code.out().Line(text::SettleFunction(code.dialect()), "(", first, ", ", count, ");");
}

void SettleValue(TileCode& code, const TileValue& value) {
  Settle(code, value.name, code.set(0).Registers(value.axes));
}

// The emitter of one dot with wgmma. Rows in registers are packed into the array `packed`.
class WgmmaEmitter : public TensorCoreDot {
 public:
  WgmmaEmitter(TileCode& code, const WgmmaProduct& product)
      : TensorCoreDot(code, product.dot, product.summed, product.rows, product.columns, product.result),
        packed_(product.packed),
        overwrites_(product.overwrites) {}

  // Emits the complete dot: issues all instructions, then waits for them.
  void Emit() {
    out_.Open("");
    Place();
    DeclareMatrices();
    if (RowsAreInPlace()) {
      DeclareRows();
      PackAllRows();
    }
    Issue();
    for (const auto& send : unsent()) send();
    FinishDotWgmma(code_, 0, result_);
    out_.Close();
  }

  std::vector<std::function<void()>> Start() {
    out_.Open("");
    Place();
    DeclareMatrices();
    Issue();
    out_.Close();
    return unsent();
  }

  void DeclareRows() { out_.Line("u32 ", packed_, "[", Steps(), "][", Tiles(dot_.row), "][4];"); }

  void PackAllRows() {
    out_.Line("UNROLL");
    out_.Open("for (int step = 0; step < ", Steps(), "; ++step)");
    out_.Line("UNROLL");
    out_.Open("for (int r = 0; r < ", Tiles(dot_.row), "; ++r)");
    PackRows("step", Cat(packed_, "[step]"));
    out_.Close();
    out_.Close();
    Settle(code_, Cat(packed_, "[0][0]"), Steps() * Tiles(dot_.row) * 4);
  }

 private:
  void Issue() {
    if (!overwrites_) SettleValue(code_, result_);
    out_.Line(text::BeginFunction(code_.dialect()), "();");
    Multiply();
    out_.Line(text::SendFunction(code_.dialect()), "();");
  }

  // Returns the number of columns of a warpgroup.
  int64_t Columns() const { return Tiles(dot_.column) * kColumnsOfTile; }
  int64_t ColumnsAtOnce() const { return std::min(Columns(), kMostColumns); }

  // Declares the matrices at which the warpgroup's parts of the operands begin. The shuffle shows the compiler that the
  // value is the same for all threads of a warp.
  void DeclareMatrices() {
    out_.Line("const int group = __shfl_sync(0xffffffffu, thread & ~127, 0);");
    if (!RowsAreInPlace()) DeclareMatrix("rows", shared_rows_, layout(dot_.row).ThreadOffset("group"));
    DeclareMatrix("columns", shared_columns_, layout(dot_.column).ThreadOffset("group"));
  }

  void DeclareMatrix(const std::string& name, const MmaOperand& operand, const std::string& first) {
    // The distance has no effect if the summed axis is inside: an instruction never reaches the next block along it.
    const int64_t next_block = operand.summed_is_inside() ? 16 : operand.block_bytes();
    const std::string matrix = text::MatrixFunction(code_.dialect(), operand.block_row_bytes(), next_block);
    out_.Line("const u64 ", name, " = ", matrix, "((LOCAL u8*)", name, "_shared + ", operand.BlockOffset(first, "0"),
              ");");
  }

  void Multiply() {
    out_.Line("UNROLL");
    out_.Open("for (int step = 0; step < ", Steps(), "; ++step)");
    out_.Line("UNROLL");
    out_.Open("for (int r = 0; r < ", Tiles(dot_.row), "; ++r)");
    if (Columns() > kMostColumns) {
      out_.Line("UNROLL");
      out_.Open("for (int c = 0; c < ", Columns(), "; c += ", kMostColumns, ")");
    }
    const std::string column = Columns() > kMostColumns ? "c" : "0";
    if (overwrites_) {
      out_.Open("if (step == 0)");
      Call(column, true);
      out_.Close();
      out_.Open("else");
    }
    Call(column, false);
    if (overwrites_) out_.Close();
    if (Columns() > kMostColumns) out_.Close();
    out_.Close();
    out_.Close();
  }

  // Emits one instruction. It adds its products to the sums or, if `overwrites`, sets the sums to the products.
  void Call(const std::string& column, bool overwrites) {
    out_.Line(
        text::WgmmaFunction(code_.dialect(), {.type = dot_.type,
                                              .columns = ColumnsAtOnce(),
                                              .rows_in_registers = RowsAreInPlace(),
                                              .rows_are_inside = !RowsAreInPlace() && !shared_rows_.summed_is_inside(),
                                              .columns_are_inside = !shared_columns_.summed_is_inside(),
                                              .overwrites = overwrites}),
        "(&", Sums(0, column), ", &", Sums(1, column), ", ", Rows(), ", ", Part("columns", shared_columns_, column),
        ");");
  }

  // Returns the thread's first sum in row tile r from this column on.
  std::string Sums(int row_half, const std::string& column) const {
    return ElementExpression(result_, dot_.row, Cat("(2 * r + ", row_half, ")"), dot_.column,
                             Cat("(", column, " / 4)"));
  }

  std::string Rows() const {
    if (RowsAreInPlace()) return Cat(packed_, "[step][r]");
    return Part("rows", shared_rows_, Cat("r * ", TileStride(dot_.row)));
  }

  // Returns the descriptor of the matrix from this position of the operand's own axis on, at the current step.
  static std::string Part(const std::string& name, const MmaOperand& operand, const std::string& own) {
    return Cat(name, " + ", operand.BlockOffset(own, "step * 16"), " / 16");
  }

  const std::string packed_;
  const bool overwrites_;
};

}  // namespace

void AddDotWgmma(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
                 const TileValue& result) {
  WgmmaEmitter(code, {dot, summed, rows, columns, result, "rows"}).Emit();
}

void DeclarePackedRows(TileCode& code, const WgmmaProduct& product) { WgmmaEmitter(code, product).DeclareRows(); }

void PackRowsWgmma(TileCode& code, const WgmmaProduct& product) { WgmmaEmitter(code, product).PackAllRows(); }

std::vector<std::function<void()>> StartDotWgmma(TileCode& code, const WgmmaProduct& product) {
  return WgmmaEmitter(code, product).Start();
}

void FinishDotWgmma(TileCode& code, int64_t products_left, const TileValue& result) {
  code.out().Line(text::FinishFunction(code.dialect(), products_left), "();");
  SettleValue(code, result);
}

void HoldWaitUntilComputed(TileCode& code, const TileValue& value) {
  code.out().Line(text::HoldFunction(code.dialect()), "(", value.name, ", ", code.set(0).Registers(value.axes), ");");
}

}  // namespace telemetry::worker::codegen::emit
