#include "worker/codegen/emit/overlapped_dots.h"

#include <utility>

#include "worker/codegen/emit/dot.h"

namespace telemetry::worker::codegen::emit {

OverlappedDots::OverlappedDots(TileCode& code, const ir::Graph& body, const plan::DotOverlap& overlap, TileValue sums)
    : code_(code),
      body_(body),
      overlap_(overlap),
      sums_(std::move(sums)),
      first_(MakeDot(overlap.first)),
      second_(MakeDot(overlap.second)),
      packed_(code.NewName()) {}

OverlappedDots::Dot OverlappedDots::MakeDot(int node) const {
  const ir::Node& dot = body_.nodes[static_cast<size_t>(node)];
  const plan::MmaDot& mma = code_.mma().dots.at({body_.id, node});
  const auto operand = [&](size_t i) {
    const ir::Node& value = body_.at(std::get<ir::NodeRef>(dot.args[i].value));
    return TileValue{.axes = value.shape, .set = code_.uses().graphs.at(body_.id).operands.at(node)[i]};
  };
  const auto row_operand = static_cast<size_t>(mma.row_operand);
  return {.mma = mma, .summed = dot.axis, .rows = operand(row_operand), .columns = operand(1 - row_operand)};
}

void OverlappedDots::Declare() {
  const ir::Node& first = body_.nodes[static_cast<size_t>(overlap_.first)];
  products_ = code_.Declare(text::RegisterType::kFloat, first.shape, 0);
  DeclarePackedRows(code_, {second_.mma, second_.summed, second_.rows, second_.columns, sums_, packed_});
}

void OverlappedDots::Start() {
  std::vector<std::function<void()>> unsent = StartDot(first_, products_, true);
  if (is_packed_) {
    for (auto& send : StartDot(second_, sums_, false)) unsent.push_back(std::move(send));
    second_runs_ = true;
  }
  for (const auto& send : unsent) send();
  FinishDotWgmma(code_, second_runs_ ? 1 : 0, products_);
}

void OverlappedDots::FinishSecond(const TileValue* last) {
  if (!second_runs_) return;
  if (last != nullptr) HoldWaitUntilComputed(code_, *last);
  FinishDotWgmma(code_, 0, sums_);
  second_runs_ = false;
}

void OverlappedDots::Pack(const TileValue& rows, const TileValue& accumulator) {
  code_.Assign(sums_, accumulator);
  PackRowsWgmma(code_, {second_.mma, second_.summed, rows, second_.columns, sums_, packed_});
  is_packed_ = true;
}

void OverlappedDots::RunSecond() {
  StartDot(second_, sums_, false);
  FinishDotWgmma(code_, 0, sums_);
}

std::vector<std::function<void()>> OverlappedDots::StartDot(const Dot& dot, const TileValue& result,
                                                            bool overwrites) const {
  return StartDotWgmma(code_, {dot.mma, dot.summed, dot.rows, dot.columns, result, packed_, overwrites});
}

}  // namespace telemetry::worker::codegen::emit
