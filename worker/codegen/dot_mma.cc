#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "worker/codegen/dot.h"
#include "worker/codegen/mma_functions.h"
#include "worker/codegen/mma_operand.h"

namespace telemetry::worker::codegen {
namespace {

using record::Cat;

// Registers that sums and two steps' operands may take, so that one step is read while the other is multiplied.
constexpr int64_t kRegistersForTwoSteps = 200;

MmaOperand OperandOf(TileCode& code, const MmaDot& dot, const std::string& name, const TileValue& value, int own,
                     int summed) {
  if (code.IsCopied(value.set)) return {code, name, value.set};
  return {code, dot.type, name, value.axes, own, summed};
}

// One dot on its way to text.
class MmaEmitter {
 public:
  MmaEmitter(TileCode& code, const MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
             const TileValue& result)
      : code_(code),
        out_(code.out()),
        dot_(dot),
        summed_(summed),
        rows_(rows),
        columns_(columns),
        result_(result),
        shared_rows_(OperandOf(code, dot, "rows_shared", rows, dot.row, summed)),
        shared_columns_(OperandOf(code, dot, "columns_shared", columns, dot.column, summed)) {}

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
  bool is_tf32() const { return dot_.type == MmaType::kTf32; }
  const AxisLayout& layout(int axis) const { return code_.set(0).of(axis); }
  int64_t Tiles(int axis) const { return layout(axis).registers[1].count; }
  int64_t TileStride(int axis) const { return layout(axis).registers[1].stride; }
  int64_t Steps() const { return code_.plan().spans[static_cast<size_t>(summed_)] / MmaDepth(dot_.type); }
  // Tiles of columns that are read together.
  int64_t ColumnsAtOnce() const { return Tiles(dot_.column) % 2 == 0 && !is_tf32() ? 2 : 1; }

  // Sums of an earlier dot: along the summed axis they have the layout of columns, and each warp has all of them.
  bool RowsAreInPlace() const {
    const AxisLayout& summed = layout(summed_);
    const bool columns =
        std::find(code_.mma().columns.begin(), code_.mma().columns.end(), summed_) != code_.mma().columns.end();
    return rows_.set == 0 && !rows_.axes.empty() && columns && summed.threads[1].count == 1;
  }

  bool TwoStepsFit() const {
    const int64_t rows = Tiles(dot_.row);
    const int64_t columns = Tiles(dot_.column);
    return Steps() > 1 && !RowsAreInPlace() &&
           4 * rows * columns + 2 * (4 * rows + 2 * columns) <= kRegistersForTwoSteps;
  }

  // Sees to it that the operands are in shared memory, but for rows that stay where they are.
  void Place() {
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
    out_.Line("BARRIER();");
  }

  // Whether the operand has still to be filled, in scratch.
  bool Declare(const TileValue& value, const MmaOperand& operand, int64_t* scratch_bytes) {
    const CopiesAhead& copies = code_.copies_ahead();
    if (const auto ahead = copies.places.find(value.set); ahead != copies.places.end()) {
      operand.Declare(ahead->second);
      TakeUnsent(code_.copies()[static_cast<size_t>(value.set)]->graph);
      return false;
    }
    operand.Declare(Cat("scratch + ", *scratch_bytes));
    *scratch_bytes += operand.bytes();
    return true;
  }

  // What the loop around has to send for is placed between this dot's steps.
  void TakeUnsent(int graph) {
    const auto unsent = code_.copies_ahead().unsent.find(graph);
    if (unsent == code_.copies_ahead().unsent.end()) return;
    unsent_ = std::move(unsent->second);
    code_.copies_ahead().unsent.erase(unsent);
  }

  void SendWithSteps() {
    for (size_t i = 0; i < unsent_.size(); ++i) {
      out_.Open("if (step == ", std::min<int64_t>(static_cast<int64_t>(i), Steps() - 1), ")");
      unsent_[i]();
      out_.Close();
    }
  }

  void Fill(const TileValue& value, const MmaOperand& operand) {
    if (code_.IsCopied(value.set)) {
      EmitCopy(code_, value.set, operand);
    } else {
      operand.Write(value);
    }
  }

  // Of the matrix rows that the lane points ldmatrix at, for the first step and tile. Matrices are in the order of the
  // instruction's registers: of a, rows, rows further down, then the same further along the summed axis; of b, along
  // the summed axis, then the next tile.
  void DeclareAddresses() {
    const std::string address = SharedAddressFunction(code_.dialect());
    if (!RowsAreInPlace()) {
      const bool transposed = !shared_rows_.summed_is_inside();
      const std::string own = Cat("warp_row + ", transposed ? "lane / 8 % 2 * 8" : "lane % 16");
      const std::string summed = transposed ? "lane / 16 * 8 + lane % 8" : "lane / 16 * 8";
      out_.Line("const u32 rows_at = ", address, "(", shared_rows_.AddressOf(own, summed), ");");
    }
    const bool transposed = !shared_columns_.summed_is_inside();
    const std::string next = ColumnsAtOnce() == 2 ? Cat(" + lane / 16 * ", TileStride(dot_.column)) : "";
    const std::string own = Cat("warp_column", next, transposed ? "" : " + lane % 8");
    const std::string summed = transposed ? "lane % 16" : "lane / 8 % 2 * 8";
    out_.Line("const u32 columns_at = ", address, "(", shared_columns_.AddressOf(own, summed), ");");
  }

  // Step after step, a few columns at a time.
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

  // The next step's operands are on their way to registers while this one's are multiplied.
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

  // The sums of all row tiles and column tile c + `more`.
  void AddProducts(const std::string& a, const std::string& b, int64_t more) {
    out_.Line("UNROLL");
    const std::string sums = Cat(Sum(0, 0, more), ", ", Sum(0, 1, more), ", ", Sum(1, 0, more), ", ", Sum(1, 1, more));
    out_.Line("for (int r = 0; r < ", Tiles(dot_.row), "; ++r) ", MmaFunction(code_.dialect(), dot_.type), "(", sums,
              ", ", a, "[r], ", b, ");");
  }

  // The result's element in row tile r and column tile c + `more`.
  std::string Sum(int row_half, int column_half, int64_t more) const {
    const std::string column = more == 0 ? "c" : Cat("(c + ", more, ")");
    return ElementOf(result_, dot_.row, Cat("(2 * r + ", row_half, ")"), dot_.column,
                     Cat("(2 * ", column, " + ", column_half, ")"));
  }

  std::string ElementOf(const TileValue& value, int first, const std::string& first_index, int second,
                        const std::string& second_index) const {
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

  // All row tiles of a step, to `to`[r].
  void ReadRows(const std::string& step, const std::string& to) {
    out_.Line("UNROLL");
    out_.Open("for (int r = 0; r < ", Tiles(dot_.row), "; ++r)");
    if (RowsAreInPlace()) {
      PackRows(step, to);
    } else if (is_tf32()) {
      ReadRowsOfTf32(step, to);
    } else {
      const std::string load = LoadMatrixFunction(code_.dialect(), 4, !shared_rows_.summed_is_inside());
      out_.Line(load, "(rows_at + r * ", TileStride(dot_.row) * shared_rows_.OwnStrideBytes(), " + ", step, " * ",
                16 * shared_rows_.SummedStrideBytes(), ", ", to, "[r]);");
    }
    out_.Close();
  }

  void ReadRowsOfTf32(const std::string& step, const std::string& to) {
    const std::string row = Cat("warp_row + r * ", TileStride(dot_.row), " + lane / 4");
    for (int i = 0; i < 4; ++i) {
      out_.Line(to, "[r][", i, "] = ", ToTf32Function(code_.dialect()), "(*(",
                shared_rows_.AddressOf(Cat(row, " + ", i % 2 * 8), Cat(step, " * 8 + lane % 4 * 2 + ", i / 2)), "));");
    }
  }

  void PackRows(const std::string& step, const std::string& to) {
    const auto element = [this](int row_half, const std::string& column) {
      return ElementOf(rows_, dot_.row, Cat("(2 * r + ", row_half, ")"), summed_, Cat("(", column, ")"));
    };
    for (int i = 0; i < 4; ++i) {
      if (is_tf32()) {
        out_.Line(to, "[r][", i, "] = ", ToTf32Function(code_.dialect()), "(",
                  element(i % 2, Cat("2 * ", step, " + ", i / 2)), ");");
        continue;
      }
      const std::string column = Cat("4 * ", step, " + ", i / 2 * 2);
      out_.Line(to, "[r][", i,
                "] = ", code_.dialect().PackFunction(dot_.type == MmaType::kF16 ? DType::kF16 : DType::kBF16), "(",
                element(i % 2, column), ", ", element(i % 2, Cat(column, " + 1")), ");");
    }
  }

  // Column tiles from c on, to as many pairs at `to`.
  void ReadColumns(const std::string& step, const std::string& to) {
    if (is_tf32()) {
      const std::string column = Cat("warp_column + c * ", TileStride(dot_.column), " + lane / 4");
      for (int i = 0; i < 2; ++i) {
        out_.Line(to, "[", i, "] = ", ToTf32Function(code_.dialect()), "(*(",
                  shared_columns_.AddressOf(column, Cat(step, " * 8 + lane % 4 * 2 + ", i)), "));");
      }
      return;
    }
    const std::string load =
        LoadMatrixFunction(code_.dialect(), static_cast<int>(2 * ColumnsAtOnce()), !shared_columns_.summed_is_inside());
    out_.Line(load, "(columns_at + c * ", TileStride(dot_.column) * shared_columns_.OwnStrideBytes(), " + ", step,
              " * ", 16 * shared_columns_.SummedStrideBytes(), ", ", to, ");");
  }

  TileCode& code_;
  CodeWriter& out_;
  const MmaDot& dot_;
  const int summed_;
  const TileValue& rows_;
  const TileValue& columns_;
  const TileValue& result_;
  MmaOperand shared_rows_;
  MmaOperand shared_columns_;
  std::vector<std::function<void()>> unsent_;
};

}  // namespace

void AddDotMma(TileCode& code, const MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
               const TileValue& result) {
  MmaEmitter(code, dot, summed, rows, columns, result).Emit();
}

}  // namespace telemetry::worker::codegen
