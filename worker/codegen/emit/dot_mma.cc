#include <algorithm>

#include "worker/codegen/emit/tensor_core_dot.h"
#include "worker/codegen/text/mma_functions.h"

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

// The most registers for the sums and the operands of two steps if one step is read while the other is multiplied.
constexpr int64_t kRegistersForTwoSteps = 200;

// The emitter of one dot with mma.
class MmaEmitter : public TensorCoreDot {
 public:
  using TensorCoreDot::TensorCoreDot;

  void Emit() {
    out_.Open("");
    Place();
    out_.Line("const int lane = thread % 32;");
    out_.Line("const int warp_row = ", layout(dot_.row).ThreadOffset("(thread & ~31)"), ";");
    out_.Line("const int warp_column = ", layout(dot_.column).ThreadOffset("(thread & ~31)"), ";");
    if (!is_tf32()) DeclareAddresses();
    if (TwoStepsFit()) {
      MultiplyWhileReading();
    } else {
      Multiply();
    }
    out_.Close();
  }

 private:
  // Returns the number of column tiles that are read together.
  int64_t ColumnsAtOnce() const { return Tiles(dot_.column) % 2 == 0 && !is_tf32() ? 2 : 1; }

  bool TwoStepsFit() const {
    const int64_t rows = Tiles(dot_.row);
    const int64_t columns = Tiles(dot_.column);
    return Steps() > 1 && !RowsAreInPlace() &&
           4 * rows * columns + 2 * (4 * rows + 2 * columns) <= kRegistersForTwoSteps;
  }

  void SendWithSteps() {
    for (size_t i = 0; i < unsent().size(); ++i) {
      out_.Open("if (step == ", std::min<int64_t>(static_cast<int64_t>(i), Steps() - 1), ")");
      unsent()[i]();
      out_.Close();
    }
  }

  // Declares the addresses of the matrix rows that the lane passes to ldmatrix, for the first step and tile. The
  // matrices are in the order of the instruction's registers. Those of `a` are the upper rows, the lower rows, then
  // both again further along the summed axis. Those of `b` follow the summed axis, then the next column tile.
  void DeclareAddresses() {
    const std::string address = text::SharedAddressFunction(code_.dialect());
    if (!RowsAreInPlace()) {
      const bool transposed = !shared_rows_.summed_is_inside();
      const std::string own = Cat("warp_row + ", transposed ? "lane / 8 % 2 * 8" : "lane % 16");
      const std::string summed = transposed ? "lane / 16 * 8 + lane % 8" : "lane / 16 * 8";
      out_.Line("const u32 rows_at = ", address, "(", shared_rows_.ElementAddress(own, summed), ");");
    }
    const bool transposed = !shared_columns_.summed_is_inside();
    const std::string next = ColumnsAtOnce() == 2 ? Cat(" + lane / 16 * ", TileStride(dot_.column)) : "";
    const std::string own = Cat("warp_column", next, transposed ? "" : " + lane % 8");
    const std::string summed = transposed ? "lane % 16" : "lane / 8 % 2 * 8";
    out_.Line("const u32 columns_at = ", address, "(", shared_columns_.ElementAddress(own, summed), ");");
  }

  // Emits the steps one after the other, with a few columns at a time.
  void Multiply() {
    const int64_t at_once = ColumnsAtOnce();
    out_.Line("UNROLL");
    out_.Open("for (int step = 0; step < ", Steps(), "; ++step)");
    out_.Line("u32 a[", Tiles(dot_.row), "][4];");
    ReadRows("step", "a");
    out_.Line("UNROLL");
    out_.Open("for (int c = 0; c < ", Tiles(dot_.column), "; c += ", at_once, ")");
    out_.Line("u32 b[", at_once, "][2];");
    ReadColumns("step", "b[0]");
    for (int64_t i = 0; i < at_once; ++i) AddProducts("a", Cat("b[", i, "]"), i);
    out_.Close();
    SendWithSteps();
    out_.Close();
  }

  // Emits the steps so that the next step's operands are read into registers while this step's are multiplied.
  void MultiplyWhileReading() {
    const int64_t columns = Tiles(dot_.column);
    out_.Line("u32 a[2][", Tiles(dot_.row), "][4];");
    out_.Line("u32 b[2][", columns, "][2];");
    ReadStep("0", "0");
    out_.Line("UNROLL");
    out_.Open("for (int step = 0; step < ", Steps(), "; ++step)");
    out_.Open("if (step + 1 < ", Steps(), ")");
    ReadStep("(step + 1)", "(step + 1) % 2");
    out_.Close();
    SendWithSteps();
    out_.Line("UNROLL");
    out_.Open("for (int c = 0; c < ", columns, "; ++c)");
    AddProducts("a[step % 2]", "b[step % 2][c]", 0);
    out_.Close();
    out_.Close();
  }

  void ReadStep(const std::string& step, const std::string& buffer) {
    ReadRows(step, Cat("a[", buffer, "]"));
    out_.Line("UNROLL");
    out_.Open("for (int c = 0; c < ", Tiles(dot_.column), "; c += ", ColumnsAtOnce(), ")");
    ReadColumns(step, Cat("b[", buffer, "][c]"));
    out_.Close();
  }

  // Emits the products of all row tiles with column tile c + `more`.
  void AddProducts(const std::string& a, const std::string& b, int64_t more) {
    out_.Line("UNROLL");
    const std::string sums = Cat(Sum(0, 0, more), ", ", Sum(0, 1, more), ", ", Sum(1, 0, more), ", ", Sum(1, 1, more));
    out_.Line("for (int r = 0; r < ", Tiles(dot_.row), "; ++r) ", text::MmaFunction(code_.dialect(), dot_.type), "(",
              sums, ", ", a, "[r], ", b, ");");
  }

  // Returns the result's element in row tile r and column tile c + `more`.
  std::string Sum(int row_half, int column_half, int64_t more) const {
    const std::string column = more == 0 ? "c" : Cat("(c + ", more, ")");
    return ElementExpression(result_, dot_.row, Cat("(2 * r + ", row_half, ")"), dot_.column,
                             Cat("(2 * ", column, " + ", column_half, ")"));
  }

  // Emits the reads of all row tiles of a step into `to`[r].
  void ReadRows(const std::string& step, const std::string& to) {
    out_.Line("UNROLL");
    out_.Open("for (int r = 0; r < ", Tiles(dot_.row), "; ++r)");
    if (RowsAreInPlace()) {
      PackRows(step, to);
    } else if (is_tf32()) {
      ReadRowsOfTf32(step, to);
    } else {
      const std::string load = text::LoadMatrixFunction(code_.dialect(), 4, !shared_rows_.summed_is_inside());
      out_.Line(load, "(rows_at + r * ", TileStride(dot_.row) * shared_rows_.OwnStrideBytes(), " + ", step, " * ",
                16 * shared_rows_.SummedStrideBytes(), ", ", to, "[r]);");
    }
    out_.Close();
  }

  void ReadRowsOfTf32(const std::string& step, const std::string& to) {
    const std::string row = Cat("warp_row + r * ", TileStride(dot_.row), " + lane / 4");
    for (int i = 0; i < 4; ++i) {
      out_.Line(to, "[r][", i, "] = ", text::ToTf32Function(code_.dialect()), "(*(",
                shared_rows_.ElementAddress(Cat(row, " + ", i % 2 * 8), Cat(step, " * 8 + lane % 4 * 2 + ", i / 2)),
                "));");
    }
  }

  // Emits the reads of ColumnsAtOnce() column tiles from c on into as many pairs of registers at `to`.
  void ReadColumns(const std::string& step, const std::string& to) {
    if (is_tf32()) {
      const std::string column = Cat("warp_column + c * ", TileStride(dot_.column), " + lane / 4");
      for (int i = 0; i < 2; ++i) {
        out_.Line(to, "[", i, "] = ", text::ToTf32Function(code_.dialect()), "(*(",
                  shared_columns_.ElementAddress(column, Cat(step, " * 8 + lane % 4 * 2 + ", i)), "));");
      }
      return;
    }
    const std::string load = text::LoadMatrixFunction(code_.dialect(), static_cast<int>(2 * ColumnsAtOnce()),
                                                      !shared_columns_.summed_is_inside());
    out_.Line(load, "(columns_at + c * ", TileStride(dot_.column) * shared_columns_.OwnStrideBytes(), " + ", step,
              " * ", 16 * shared_columns_.SummedStrideBytes(), ", ", to, ");");
  }
};

}  // namespace

void AddDotMma(TileCode& code, const plan::MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
               const TileValue& result) {
  MmaEmitter(code, dot, summed, rows, columns, result).Emit();
}

}  // namespace telemetry::worker::codegen::emit
