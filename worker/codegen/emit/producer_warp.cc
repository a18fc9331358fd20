#include "worker/codegen/emit/producer_warp.h"

#include "worker/codegen/emit/address.h"
#include "worker/codegen/emit/dot.h"
#include "worker/codegen/emit/grid.h"
#include "worker/codegen/text/tma_functions.h"

namespace telemetry::worker::codegen::emit {

using record::Cat;

ProducerWarp::ProducerWarp(TileCode& code, const plan::ProducerPlan& plan) : code_(code), plan_(plan) {
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    operands_.push_back({.source = plan.loop.sources[i],
                         .place = MmaOperand(code, Cat("to", plan.sets[i]), plan.sets[i]),
                         .offset = tile_bytes_});
    tile_bytes_ += operands_.back().place.bytes();
  }
  const int64_t stages = code.plan().stages;
  ring_at_ = code.Hold(stages * tile_bytes_);
  drafts_at_ = code.Hold(kDraftBytes * static_cast<int64_t>(operands_.size()));
  barriers_at_ = code.Hold(2 * stages * static_cast<int64_t>(sizeof(uint64_t)));
  // BARRIER() is for the consumers. The producer passes __syncthreads() only.
  code.dialect().AddFunction("consumer_barrier", Cat("#undef BARRIER\n#define BARRIER() asm volatile(\"bar.sync 1, ",
                                                     consumers(), ";\" ::: \"memory\")\n"));
  text::AddBarrierFunctions(&code.dialect());
  text::AddTensorMaps(&code.dialect(), operands_.size());
}

void ProducerWarp::Open() {
  Prepare();
  code_.out().Open("if (thread >= ", consumers(), ")");
  Produce();
  code_.out().Close();
  code_.out().Open("else");
  DeclareSlot();
}

void ProducerWarp::Close() {
  text::CodeWriter& out = code_.out();
  out.Close();
  // The consumers have received all tiles, so no copy uses the descriptors any more.
  out.Line("__syncthreads();");
  out.Line("if (thread == ", consumers(), ") release_tensor_maps(maps);");
}

void ProducerWarp::Prepare() {
  text::CodeWriter& out = code_.out();
  const int64_t stages = code_.plan().stages;
  out.Line("u64* const filled = (u64*)(held + ", barriers_at_, ");");
  out.Line("u64* const emptied = filled + ", stages, ";");
  out.Line("int maps = 0;");
  out.Open("if (thread == 0)");
  out.Open("for (int i = 0; i < ", stages, "; ++i)");
  out.Line("init_barrier(filled + i, 1);");
  out.Line("init_barrier(emptied + i, ", consumers() / 32, ");");
  out.Close();
  out.Line("share_barriers();");
  out.Close();
  // Other warps describe the tensors while the producer waits for the memory of the descriptors.
  out.Line("if (thread == ", consumers(), ") maps = claim_tensor_maps();");
  for (size_t i = 0; i < operands_.size(); ++i) {
    const int64_t first = operands_[i].source.first;
    out.Line("if (thread / 32 == ", i + 1, ") ", DescribeOperand(i), "(", Draft(i), ", ",
             TensorName(operands_[i].source.tensor), first == 0 ? "" : Cat(" + ", first), ");");
  }
  out.Line("__syncthreads();");
}

std::string ProducerWarp::DescribeOperand(size_t index) {
  const Operand& operand = operands_[index];
  text::TensorMap map = {.row_bytes = operand.place.block_row_bytes()};
  for (const TmaSource::Dimension& dimension : operand.source.dimensions) {
    const bool is_inside = dimension.axis == operand.place.inside();
    map.sizes.push_back(dimension.size);
    map.box.push_back(is_inside ? BoxLength(operand) : Span(dimension.axis));
    if (!is_inside) map.strides.push_back(dimension.stride * kElementBytes);
  }
  return text::DescribeFunction(&code_.dialect(), Cat("describe_", TensorName(operand.source.tensor), "_", index), map);
}

void ProducerWarp::Produce() {
  text::CodeWriter& out = code_.out();
  out.Line("maps = __shfl_sync(0xffffffffu, maps, 0);");
  for (size_t i = 0; i < operands_.size(); ++i) out.Line("publish_tensor_map(", Draft(i), ", ", Map(i), ");");
  for (size_t i = 0; i < operands_.size(); ++i) out.Line("begin_to_use(", Map(i), ");");
  DeclareSlot();
  OpenTiles(code_);
  const std::string begin = TileCode::Begin(plan_.loop.axis);
  out.Open("for (", code_.PositionType(), " ", begin, " = 0; ", begin, " < ",
           code_.Extent(code_.ir().axes[static_cast<size_t>(plan_.loop.axis)].extent), "; ", begin,
           " += ", code_.plan().blocks[static_cast<size_t>(plan_.loop.axis)], ")");
  out.Line("wait_for_phase(emptied + slot, phase ^ 1);");
  out.Open("if (is_elected())");
  CopyTile();
  out.Close();
  Advance();
  out.Close();
  out.Close();
}

void ProducerWarp::CopyTile() {
  int64_t bytes = 0;
  for (const Operand& operand : operands_) {
    bytes += Span(operand.place.own()) * Span(operand.place.summed()) * kElementBytes;
  }
  code_.out().Line("expect_bytes(filled + slot, ", bytes, ");");
  for (size_t i = 0; i < operands_.size(); ++i) CopyOperand(i);
}

void ProducerWarp::CopyOperand(size_t index) {
  const Operand& operand = operands_[index];
  text::CodeWriter& out = code_.out();
  const std::string copy = text::CopyBoxFunction(&code_.dialect(), operand.source.dimensions.size());
  std::string positions;
  for (const TmaSource::Dimension& dimension : operand.source.dimensions) {
    const bool is_inside = dimension.axis == operand.place.inside();
    positions += Cat(", (int)", TileCode::Begin(dimension.axis), is_inside ? Cat(" + i * ", BoxLength(operand)) : "");
  }
  out.Line("UNROLL");
  out.Open("for (int i = 0; i < ", Span(operand.place.inside()) / BoxLength(operand), "; ++i)");
  out.Line(copy, "(", TileAddress(index), " + i * ", operand.place.block_bytes(), ", ", Map(index), ", filled + slot",
           positions, ");");
  out.Close();
}

void ProducerWarp::Begin() { code_.out().Line("int in_flight = -1;"); }

void ProducerWarp::Multiply(const TileValue& sums) {
  text::CodeWriter& out = code_.out();
  out.Line("wait_for_phase(filled + slot, phase);");
  for (size_t i = 0; i < operands_.size(); ++i) code_.copies_ahead().places[plan_.sets[i]] = TileAddress(i);
  const plan::MmaDot& dot = code_.mma().dots.at({plan_.loop.body, plan_.loop.dot});
  const auto row_operand = static_cast<size_t>(dot.row_operand);
  const TileValue rows = {.set = plan_.sets[row_operand]};
  const TileValue columns = {.set = plan_.sets[1 - row_operand]};
  StartDotWgmma(code_, {dot, plan_.loop.axis, rows, columns, sums, ""});
  for (const int set : plan_.sets) code_.copies_ahead().places.erase(set);
  FinishDotWgmma(code_, 1, sums);
  out.Line("if (in_flight >= 0 && thread % 32 == 0) arrive_at(emptied + in_flight);");
  out.Line("in_flight = slot;");
  Advance();
}

void ProducerWarp::End(const TileValue& sums) {
  FinishDotWgmma(code_, 0, sums);
  code_.out().Line("if (thread % 32 == 0) arrive_at(emptied + in_flight);");
}

void ProducerWarp::DeclareSlot() {
  code_.out().Line("int slot = 0;");
  code_.out().Line("u32 phase = 0;");
}

void ProducerWarp::Advance() {
  text::CodeWriter& out = code_.out();
  out.Open("if (++slot == ", code_.plan().stages, ")");
  out.Line("slot = 0;");
  out.Line("phase ^= 1;");
  out.Close();
}

std::string ProducerWarp::TileAddress(size_t index) const {
  return Cat("held + ", ring_at_ + operands_[index].offset, " + slot * ", tile_bytes_);
}

}  // namespace telemetry::worker::codegen::emit
