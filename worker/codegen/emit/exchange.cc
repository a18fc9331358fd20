#include "worker/codegen/emit/exchange.h"

#include <algorithm>

#include "worker/codegen/text/cluster_functions.h"

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

constexpr int64_t kMostScratchBytes = 16 << 10;

// Returns the largest divisor of `registers` such that this many registers fit into scratch memory at a time.
int64_t RegistersAtOnce(int64_t registers, int64_t bytes_each) {
  int64_t at_once = std::clamp<int64_t>(kMostScratchBytes / bytes_each, 1, registers);
  while (registers % at_once != 0) --at_once;
  return at_once;
}

class Exchange {
 public:
  Exchange(TileCode& code, const Partials& partials, const Bits& run, bool across_blocks)
      : code_(code), partials_(partials), run_(run), across_blocks_(across_blocks) {}

  // Emits the exchange, with as many registers at a time as fit into kMostScratchBytes.
  void Emit() {
    text::CodeWriter& out = code_.out();
    const int64_t value_words = RegisterBytes(result().type) / 4;
    const int64_t words = value_words + (has_position() ? 1 : 0);
    const int64_t registers = code_.set(result().set).Registers(result().axes);
    const int64_t at_once = RegistersAtOnce(registers, 4 * words * threads());
    const int64_t bytes = at_once * words * threads() * 4;
    across_blocks_ ? code_.NeedExchange(bytes) : code_.NeedScratch(bytes);
    out.Line("UNROLL");
    out.Open("for (int first = 0; first < ", registers, "; first += ", at_once, ")");
    const std::string memory = across_blocks_ ? "exchange" : "scratch";
    out.Line("LOCAL ", type(), "* partial = (LOCAL ", type(), "*)", memory, ";");
    if (has_position()) {
      out.Line("LOCAL int* partial_at = (LOCAL int*)", memory, " + ", value_words * at_once * threads(), ";");
    }
    // In a cluster an arrival is pending between exchanges. After the wait, all blocks have read the earlier results.
    out.Line(across_blocks_ ? "cluster_wait();" : "BARRIER();");
    Leave(at_once);
    if (across_blocks_) out.Line("cluster_arrive();");
    out.Line(across_blocks_ ? "cluster_wait();" : "BARRIER();");
    TakeUp(at_once);
    if (across_blocks_) out.Line("cluster_arrive();");
    out.Close();
  }

 private:
  const TileValue& result() const { return partials_.value; }
  bool has_position() const { return partials_.combiner.has_position(); }
  int64_t threads() const { return code_.plan().threads; }
  std::string_view type() const { return TypeName(result().type); }
  // Returns the bits of the thread's index inside a block that distinguish results.
  int64_t ResultBits() const { return code_.set(result().set).ThreadBits(result().axes) & (threads() - 1); }
  static std::string AsArray(const TileValue& v) { return v.axes.empty() ? Cat("(&", v.name, ")") : v.name; }

  void Leave(int64_t at_once) {
    text::CodeWriter& out = code_.out();
    const std::string place = Cat("[r * ", threads(), " + ", Place(), "]");
    const int64_t copies = (threads() - 1) & ~ResultBits();
    const bool only_first = across_blocks_ && copies != 0;
    if (only_first) out.Open("if ((", code_.BlockThread(), " & ", copies, ") == 0)");
    out.Line("UNROLL");
    out.Open("for (int r = 0; r < ", at_once, "; ++r)");
    out.Line("partial", place, " = ", AsArray(result()), "[first + r];");
    if (has_position()) out.Line("partial_at", place, " = ", AsArray(partials_.position), "[first + r];");
    out.Close();
    if (only_first) out.Close();
  }

  // Returns the position of the thread's partial result. Across blocks, all copies in a block use the first thread's
  // position.
  std::string Place() const {
    return across_blocks_ ? Cat("(", code_.BlockThread(), " & ", ResultBits(), ")") : code_.BlockThread();
  }

  void TakeUp(int64_t at_once) {
    text::CodeWriter& out = code_.out();
    out.Line("UNROLL");
    out.Open("for (int r = 0; r < ", at_once, "; ++r)");
    if (across_blocks_) {
      out.Line("const int mine = r * ", threads(), " + ", Place(), ";");
      out.Line("const int from = rank & ~", run_.mask(), ";");
    } else {
      out.Line("const int mine = r * ", threads(), " + (", code_.BlockThread(), " & ~", run_.mask(), ");");
    }
    const int64_t lane = LaneOfCopies(run_.count);
    lane > 0 ? TakeUpByLanes(lane) : TakeUpInOrder();
    out.Line(AsArray(result()), "[first + r] = sum;");
    if (has_position()) out.Line(AsArray(partials_.position), "[first + r] = sum_at;");
    out.Close();
  }

  // Returns the lowest of the consecutive bits of the lane's index that distinguish `count` lanes with copies of the
  // same result, or 0 if a warp does not have that many copies.
  int64_t LaneOfCopies(int64_t count) const {
    if (!code_.dialect().is_cuda()) return 0;
    for (int64_t lowest = 1; lowest * count <= kLanes; lowest *= 2) {
      if ((ResultBits() & (lowest * (count - 1))) == 0) return lowest;
    }
    return 0;
  }

  // Emits reads in which each of the lanes reads one part; shuffles combine the parts.
  void TakeUpByLanes(int64_t lane) {
    text::CodeWriter& out = code_.out();
    out.Line("const int j = ", code_.BlockThread(), " / ", lane, " % ", run_.count, ";");
    out.Line(type(), " sum = ", Part("partial", "j"), ";");
    if (has_position()) out.Line("int sum_at = ", Part("partial_at", "j"), ";");
    partials_.combiner.CombineLanes("sum", "sum_at", lane * (run_.count - 1));
  }

  void TakeUpInOrder() {
    text::CodeWriter& out = code_.out();
    out.Line(type(), " sum = ", Part("partial", "0"), ";");
    if (has_position()) out.Line("int sum_at = ", Part("partial_at", "0"), ";");
    out.Line("UNROLL");
    out.Open("for (int j = 1; j < ", run_.count, "; ++j)");
    partials_.combiner.Combine("sum", "sum_at", Part("partial", "j"), Part("partial_at", "j"));
    out.Close();
  }

  // Returns the partial result of the run's `j`th thread, or across blocks of its `j`th block.
  std::string Part(const std::string& array, const std::string& j) const {
    const std::string offset = Cat(j, " * ", run_.lowest);
    if (!across_blocks_) return Cat(array, "[mine + ", offset, "]");
    const text::RegisterType type = array == "partial" ? result().type : text::RegisterType::kInt;
    text::AddClusterFunctions(&code_.dialect());
    if (RegisterBytes(type) == 8) {
      text::AddWideClusterRead(&code_.dialect());
      return Cat("(", TypeName(type), ")(cluster_read_wide(", array, " + mine, from + ", offset, "))");
    }
    const std::string convert = IsFloat(type) ? "AS_FLOAT" : Cat("(", TypeName(type), ")");
    return Cat(convert, "(cluster_read(", array, " + mine, from + ", offset, "))");
  }

  TileCode& code_;
  const Partials partials_;
  const Bits run_;
  const bool across_blocks_;
};

}  // namespace

void EmitExchange(TileCode& code, const Partials& partials, const Bits& run, bool across_blocks) {
  Exchange(code, partials, run, across_blocks).Emit();
}

}  // namespace telemetry::worker::codegen::emit
