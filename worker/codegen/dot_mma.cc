#include <algorithm>

#include "worker/codegen/dot.h"
#include "worker/codegen/mma_operand.h"

namespace telemetry::worker::codegen {
namespace {

using record::Cat;

// "mma.sync.aligned.m16n8k16...": c += a * b.
std::string MmaFunction(TileCode& code, MmaType type) {
  const std::string_view name = type == MmaType::kF16 ? "mma_f16" : type == MmaType::kBF16 ? "mma_bf16" : "mma_tf32";
  const std::string_view element = type == MmaType::kF16 ? "f16" : type == MmaType::kBF16 ? "bf16" : "tf32";
  code.dialect().AddFunction(
      std::string(name),
      Cat("FN void ", name,
          "(float& c0, float& c1, float& c2, float& c3, const u32* a, const u32* b) {\n"
          "  asm volatile(\"mma.sync.aligned.m16n8k",
          MmaDepth(type), ".row.col.f32.", element, ".", element,
          ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
          "               : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3)\n"
          "               : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n}\n"));
  return std::string(name);
}

// Four (two) matrices of 8 x 8 elements of 16 bits, whose rows the lanes point at, eight of them each.
std::string LoadMatrixFunction(TileCode& code, int count, bool transposed) {
  std::string name = Cat("load_matrix_x", count, transposed ? "_transposed" : "");
  std::string text =
      Cat("FN void ", name, "(const u16* row, u32* to) {\n  const u32 at = (u32)__cvta_generic_to_shared(row);\n",
          "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x", count, transposed ? ".trans" : "", ".shared.b16 ");
  text += count == 4 ? "{%0, %1, %2, %3}, [%4];\" : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])"
                     : "{%0, %1}, [%2];\" : \"=r\"(to[0]), \"=r\"(to[1])";
  code.dialect().AddFunction(name, text + " : \"r\"(at) : \"memory\");\n}\n");
  return name;
}

std::string ToTf32Function(TileCode& code) {
  code.dialect().AddFunction(
      "to_tf32",
      "FN u32 to_tf32(float x) {\n  u32 bits;\n  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(bits) : "
      "\"f\"(x));\n  return bits;\n}\n");
  return "to_tf32";
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
        result_(result),
        shared_rows_(code, dot.type, "rows_shared", rows, dot.row, summed),
        shared_columns_(code, dot.type, "columns_shared", columns, dot.column, summed) {}

  void Emit() {
    const int64_t rows_bytes = RowsAreInPlace() ? 0 : shared_rows_.bytes();
    code_.NeedScratch(rows_bytes + shared_columns_.bytes());
    out_.Open("");
    if (!RowsAreInPlace()) shared_rows_.Declare(0);
    shared_columns_.Declare(rows_bytes);
    out_.Line("BARRIER();");
    if (!RowsAreInPlace()) shared_rows_.Write();
    shared_columns_.Write();
    out_.Line("BARRIER();");
    out_.Line("const int lane = thread % 32;");
    out_.Line("const int warp_row = ", layout(dot_.row).ThreadOffset("(thread & ~31)"), ";");
    out_.Line("const int warp_column = ", layout(dot_.column).ThreadOffset("(thread & ~31)"), ";");
    const int64_t steps = code_.plan().spans[static_cast<size_t>(summed_)] / MmaDepth(dot_.type);
    out_.Line("UNROLL");
    out_.Open("for (int step = 0; step < ", steps, "; ++step)");
    Step();
    out_.Close();
    out_.Close();
  }

 private:
  bool is_tf32() const { return dot_.type == MmaType::kTf32; }
  const AxisLayout& layout(int axis) const { return code_.set(0).of(axis); }
  int64_t Tiles(int axis) const { return layout(axis).registers[1].count; }
  int64_t TileStride(int axis) const { return layout(axis).registers[1].stride; }

  // Sums of an earlier dot: along the summed axis they have the layout of columns, and each warp has all of them.
  bool RowsAreInPlace() const {
    const AxisLayout& summed = layout(summed_);
    const bool columns =
        std::find(code_.mma().columns.begin(), code_.mma().columns.end(), summed_) != code_.mma().columns.end();
    return rows_.set == 0 && !rows_.axes.empty() && columns && summed.threads[1].count == 1;
  }

  void Step() {
    const int64_t row_tiles = Tiles(dot_.row);
    const int64_t column_tiles = Tiles(dot_.column);
    out_.Line("u32 a[", row_tiles, "][4];");
    out_.Line("UNROLL");
    out_.Open("for (int r = 0; r < ", row_tiles, "; ++r)");
    ReadRows();
    out_.Close();
    const int64_t at_once = column_tiles % 2 == 0 && !is_tf32() ? 2 : 1;
    out_.Line("UNROLL");
    out_.Open("for (int c = 0; c < ", column_tiles, "; c += ", at_once, ")");
    out_.Line("u32 b[", 2 * at_once, "];");
    ReadColumns(at_once);
    for (int64_t i = 0; i < at_once; ++i) {
      out_.Line("UNROLL");
      const std::string sums = Cat(Sum(0, 0, i), ", ", Sum(0, 1, i), ", ", Sum(1, 0, i), ", ", Sum(1, 1, i));
      out_.Line("for (int r = 0; r < ", row_tiles, "; ++r) ", MmaFunction(code_, dot_.type), "(", sums, ", a[r], b + ",
                2 * i, ");");
    }
    out_.Close();
  }

  // The result's element in row tile r and column tile c + `more`.
  std::string Sum(int row_half, int column_half, int64_t more) const {
    return ElementOf(result_, dot_.row, Cat("(2 * r + ", row_half, ")"), dot_.column,
                     Cat("(2 * (c + ", more, ") + ", column_half, ")"));
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

  void ReadRows() {
    if (RowsAreInPlace()) {
      PackRows();
      return;
    }
    const std::string row = Cat("warp_row + r * ", TileStride(dot_.row));
    if (is_tf32()) {
      for (int i = 0; i < 4; ++i) {
        out_.Line(
            "a[r][", i, "] = ", ToTf32Function(code_), "(*(",
            shared_rows_.AddressOf(Cat(row, " + lane / 4 + ", i % 2 * 8), Cat("step * 8 + lane % 4 * 2 + ", i / 2)),
            "));");
      }
      return;
    }
    // Matrices in the order of a's registers: rows, rows further down, then the same further along the summed axis.
    const bool transposed = !shared_rows_.summed_is_inside();
    const std::string own = Cat(row, transposed ? " + lane / 8 % 2 * 8" : " + lane % 16");
    const std::string summed = Cat("step * 16", transposed ? " + lane / 16 * 8 + lane % 8" : " + lane / 16 * 8");
    out_.Line(LoadMatrixFunction(code_, 4, transposed), "(", shared_rows_.AddressOf(own, summed), ", a[r]);");
  }

  void PackRows() {
    const auto element = [this](int row_half, const std::string& column) {
      return ElementOf(rows_, dot_.row, Cat("(2 * r + ", row_half, ")"), summed_, column);
    };
    for (int i = 0; i < 4; ++i) {
      if (is_tf32()) {
        out_.Line("a[r][", i, "] = ", ToTf32Function(code_), "(", element(i % 2, Cat("(2 * step + ", i / 2, ")")),
                  ");");
        continue;
      }
      const std::string to_bits =
          code_.dialect().ToBitsFunction(dot_.type == MmaType::kF16 ? DType::kF16 : DType::kBF16);
      const std::string tile = Cat("2 * (2 * step + ", i / 2, ")");
      out_.Line("a[r][", i, "] = (u32)", to_bits, "(", element(i % 2, Cat("(", tile, ")")), ") | (u32)", to_bits, "(",
                element(i % 2, Cat("(", tile, " + 1)")), ") << 16;");
    }
  }

  void ReadColumns(int64_t at_once) {
    const std::string column = Cat("warp_column + c * ", TileStride(dot_.column));
    if (is_tf32()) {
      for (int i = 0; i < 2; ++i) {
        out_.Line("b[", i, "] = ", ToTf32Function(code_), "(*(",
                  shared_columns_.AddressOf(Cat(column, " + lane / 4"), Cat("step * 8 + lane % 4 * 2 + ", i)), "));");
      }
      return;
    }
    const bool transposed = !shared_columns_.summed_is_inside();
    const std::string next = at_once == 2 ? Cat(" + lane / 16 * ", TileStride(dot_.column)) : "";
    const std::string own = Cat(column, next, transposed ? "" : " + lane % 8");
    const std::string summed = Cat("step * 16", transposed ? " + lane % 16" : " + lane / 8 % 2 * 8");
    out_.Line(LoadMatrixFunction(code_, static_cast<int>(2 * at_once), transposed), "(",
              shared_columns_.AddressOf(own, summed), ", b);");
  }

  TileCode& code_;
  CodeWriter& out_;
  const MmaDot& dot_;
  const int summed_;
  const TileValue& rows_;
  const TileValue& result_;
  MmaOperand shared_rows_;
  MmaOperand shared_columns_;
};

}  // namespace

void AddDotMma(TileCode& code, const MmaDot& dot, int summed, const TileValue& rows, const TileValue& columns,
               const TileValue& result) {
  MmaEmitter(code, dot, summed, rows, columns, result).Emit();
}

}  // namespace telemetry::worker::codegen
