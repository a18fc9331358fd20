#include "worker/codegen/emit/shared_copy.h"

#include <algorithm>

#include "worker/codegen/access.h"
#include "worker/codegen/emit/address.h"

namespace telemetry::worker::codegen::emit {
namespace {

using ir::Graph;
using ir::Node;
using record::Cat;

// Adds the helper for a cp.async of this many bytes and returns its name. If `limited`, only the first `limit` bytes
// are read and the rest become zeros. Copies of 4 and 8 bytes pass through the L1 cache, as the instruction requires.
// The copies have no eviction policy: ptxas 13.0 sometimes loses the descriptor of a cp.async with a cache hint, and
// the kernel then ends with an illegal instruction.
std::string CopyFunction(text::DialectText& dialect, int64_t bytes, bool limited) {
  std::string name = Cat("copy_async_", bytes, limited ? "_of" : "");
  dialect.AddFunction(name,
                      Cat("FN void ", name, "(void* to, const void* from", limited ? ", int limit" : "", ") {\n",
                          "  const u32 at = (u32)__cvta_generic_to_shared(to);\n", "  asm volatile(\"cp.async.",
                          bytes == 16 ? "cg" : "ca", ".shared.global [%0], [%1], ", bytes, limited ? ", %2" : "",
                          ";\" :: \"r\"(at), \"l\"(from)", limited ? ", \"r\"(limit)" : "", " : \"memory\");\n}\n"));
  return name;
}

// The emitter of one copy.
class CopyEmitter {
 public:
  CopyEmitter(TileCode& code, int set, const MmaOperand& operand)
      : code_(code),
        set_(set),
        copy_(*code.copies()[static_cast<size_t>(set)]),
        graph_(code.ir().graphs[static_cast<size_t>(copy_.graph)]),
        load_(graph_.nodes[static_cast<size_t>(copy_.load)]),
        access_(code.plan().AccessPlanFor(copy_.graph, copy_.load)),
        operand_(operand),
        element_bytes_(static_cast<int64_t>(SizeOf(*load_.dtype))) {}

  void Emit() {
    inside_ = operand_.inside();
    const int64_t widest = std::min(code_.set(set_).of(inside_).VectorLength(), access_.vector_width);
    length_ = AlignedVector(code_.ir(), graph_, load_, inside_, widest, code_.plan().blocks);
    const std::string first_copy = code_.FirstCopy(set_, load_.shape);
    if (!first_copy.empty()) code_.out().Open("if (", first_copy, ")");
    if (SplitsAddresses()) DeclareFrom();
    code_.ForRegisters(
        set_, load_.shape, [this] { Move(); }, inside_, length_);
    if (!first_copy.empty()) code_.out().Close();
  }

 private:
  int64_t bytes() const { return length_ * element_bytes_; }

  // Reports whether the copies of all registers use one address and constant offsets, which takes fewer registers and
  // instructions than an address for each. Other loops than those with held operands have not been measured.
  bool SplitsAddresses() const {
    return code_.mma().by_warpgroups &&
           std::any_of(code_.copies().begin(), code_.copies().end(),
                       [this](const auto& other) { return other && other->is_held() && other->user == copy_.user; });
  }

  std::string From() const { return Cat("from", set_); }

  // Declares the address for the registers with index 0.
  void DeclareFrom() {
    text::CodeWriter& out = code_.out();
    out.Line("const GLOBAL ", text::DialectText::StorageType(*load_.dtype), "* ", From(), ";");
    out.Open("");
    for (const int axis : code_.set(set_).Ordered(load_.shape)) {
      if (code_.set(set_).of(axis).Registers() > 1) out.Line("const int ", TileCode::RegisterIndex(axis), " = 0;");
    }
    out.Line(From(), " = ", AddressOfLoad(code_, graph_, load_, set_), ";");
    out.Close();
  }

  void Move() {
    const std::string to = SplitsAddresses() ? operand_.RegisterAddress(set_)
                                             : operand_.ElementAddress(code_.LocalPosition(set_, operand_.own()),
                                                                       code_.LocalPosition(set_, operand_.summed()));
    const std::string from = SplitsAddresses() ? Cat(From(), " + ", RegisterOffsetOfLoad(code_, graph_, load_, set_))
                                               : AddressOfLoad(code_, graph_, load_, set_);
    if (bytes() < 4) {
      MoveElement(to, from);
      return;
    }
    const std::string limit = Limit();
    const std::string function = CopyFunction(code_.dialect(), bytes(), !limit.empty());
    code_.out().Line(function, "(", to, ", ", from, limit.empty() ? "" : ", ", limit, ");");
  }

  // Emits a plain assignment of one element, which is too short for cp.async.
  void MoveElement(const std::string& to, const std::string& from) {
    const std::string inside = code_.InRange(set_, load_.shape);
    code_.out().Line("*(", to, ") = ", inside.empty() ? "" : Cat(inside, " ? "), "*(", from, ")",
                     inside.empty() ? "" : " : 0", ";");
  }

  // Returns the expression for the number of bytes that can be read, or "" if all bytes always can.
  std::string Limit() {
    const ir::Size& extent = code_.ir().axes[static_cast<size_t>(inside_)].extent;
    if (extent.is_static && extent.value % length_ == 0) {
      // The end cannot split a piece, so checking its first element is sufficient.
      const std::string condition = code_.InRange(set_, load_.shape);
      return condition.empty() ? "" : Cat(condition, " ? ", bytes(), " : 0");
    }
    std::vector<int> others = load_.shape;
    others.erase(std::remove(others.begin(), others.end(), inside_), others.end());
    const std::string condition = code_.InRange(set_, others);
    const std::string left =
        Cat(LimitFunction(), "(", code_.End(inside_), " - ", code_.Position(set_, inside_), ", ", length_, ")");
    const std::string readable = element_bytes_ == 1 ? left : Cat(element_bytes_, " * ", left);
    return condition.empty() ? readable : Cat(condition, " ? ", readable, " : 0");
  }

  std::string LimitFunction() {
    const std::string type = code_.PositionType();
    code_.dialect().AddFunction("limited", Cat("FN int limited(", type, " left, int most) {\n",
                                               "  return left < 0 ? 0 : left > most ? most : (int)left;\n}\n"));
    return "limited";
  }

  TileCode& code_;
  const int set_;
  const plan::SharedCopy& copy_;
  const Graph& graph_;
  const Node& load_;
  const plan::AccessPlan& access_;
  const MmaOperand& operand_;
  const int64_t element_bytes_;
  int inside_ = -1;
  int64_t length_ = 1;
};

}  // namespace

void EmitCopy(TileCode& code, int set, const MmaOperand& operand) { CopyEmitter(code, set, operand).Emit(); }

void CloseCopies(TileCode& code) {
  code.dialect().AddFunction("close_copies",
                             "FN void close_copies() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }\n");
  code.out().Line("close_copies();");
}

void WaitForCopies(TileCode& code, int64_t groups_left) {
  std::string name = Cat("wait_for_copies_but_", groups_left);
  code.dialect().AddFunction(
      name, Cat("FN void ", name, "() { asm volatile(\"cp.async.wait_group ", groups_left, ";\" ::: \"memory\"); }\n"));
  code.out().Line(name, "();");
}

}  // namespace telemetry::worker::codegen::emit
