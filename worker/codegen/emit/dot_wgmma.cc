#include <algorithm>

#include "worker/codegen/emit/tensor_core_dot.h"
#include "worker/codegen/text/wgmma_functions.h"

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

constexpr int64_t kMostColumns = 256;  // of one instruction
constexpr int64_t kColumnsOfTile = 8;  // of a column tile in MmaLayout

// The emitter of one dot with wgmma. The code issues all instructions of the dot, then waits for them.
class WgmmaEmitter : public TensorCoreDot {
 public:
  using TensorCoreDot::TensorCoreDot;

  void Emit() {
    out_.Open("");
    Place();
    DeclareMatrices();
    if (RowsAreInPlace()) PackAllRows();
    Settle(result_.name, code_.set(0).Registers(result_.axes));
    out_.Line(text::BeginFunction(code_.dialect()), "();");
    Multiply();
    out_.Line(text::SendFunction(code_.dialect()), "();");
    for (const auto& send : unsent()) send();
    out_.Line(text::FinishFunction(code_.dialect()), "();");
    Settle(result_.name, code_.set(0).Registers(result_.axes));
    out_.Close();
  }

 private:
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

  void PackAllRows() {
    out_.Line("u32 rows[", Steps(), "][", Tiles(dot_.row), "][4];");
    out_.Line("UNROLL");
    out_.Open("for (int step = 0; step < ", Steps(), "; ++step)");
    out_.Line("UNROLL");
    out_.Open("for (int r = 0; r < ", Tiles(dot_.row), "; ++r)");
    PackRows("step", "rows[step]");
    out_.Close();
    out_.Close();
    Settle("rows[0][0]", Steps() * Tiles(dot_.row) * 4);
  }

  // Emits the settle call for `count` registers from `first` on.
  void Settle(const std::string& first, int64_t count) {
    out_.Line(text::SettleFunction(code_.dialect()), "(", first, ", ", count, ");");
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
    out_.Line(
        text::WgmmaFunction(code_.dialect(), {.type = dot_.type,
                                              .columns = ColumnsAtOnce(),
                                              .rows_in_registers = RowsAreInPlace(),
                                              .rows_are_inside = !RowsAreInPlace() && !shared_rows_.summed_is_inside(),
                                              .columns_are_inside = !shared_columns_.summed_is_inside()}),
        "(&", Sums(0, column), ", &", Sums(1, column), ", ", Rows(), ", ", Part("columns", shared_columns_, column),
        ");");
    if (Columns() > kMostColumns) out_.Close();
    out_.Close();
    out_.Close();
  }

  // Returns the thread's first sum in row tile r from this column on.
  std::string Sums(int row_half, const std::string& column) const {
    return ElementExpression(result_, dot_.row, Cat("(2 * r + ", row_half, ")"), dot_.column,
                             Cat("(", column, " / 4)"));
  }

  std::string Rows() const {
    if (RowsAreInPlace()) return "rows[step][r]";
    return Part("rows", shared_rows_, Cat("r * ", TileStride(dot_.row)));
  }

  // Returns the descriptor of the matrix from this position of the operand's own axis on, at the current step.
  static std::string Part(const std::string& name, const MmaOperand& operand, const std::string& own) {
    return Cat(name, " + ", operand.BlockOffset(own, "step * 16"), " / 16");
  }
};

}  // namespace

void AddDotWgmma(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
                 const TileValue& result) {
  WgmmaEmitter(code, dot, summed, rows, columns, result).Emit();
}

}  // namespace telemetry::worker::codegen::emit
