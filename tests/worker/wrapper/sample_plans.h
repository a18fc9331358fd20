#pragma once

#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper {

// Returns a plan of layer_norm with its three outputs.
inline absl::StatusOr<Plan> LayerNormPlan() {
  PlanBuilder b("layer_norm");
  const BufferRef x = b.Input("x", device::DType::kF32, {8, 64});
  const BufferRef weight = b.Input("weight", device::DType::kF32, {64});
  const BufferRef bias = b.Input("bias", device::DType::kF32, {64});
  const CallOutputs norm =
      b.Call("layer_norm", {x, weight, bias}, {.names = {"out", "mean", "rstd"}, .numbers = {{"eps", 0.5}}});
  b.Output(norm[0]);
  b.Output(norm[1]);
  b.Output(norm[2]);
  return b.Finish();
}

// Returns a plan of softmax(q k) v; k has the layout of the product, already transposed. The scores are released at the
// end, which memory planning can improve.
inline absl::StatusOr<Plan> AttentionPlan(device::DType dtype = device::DType::kF32) {
  PlanBuilder b("attention");
  const BufferRef q = b.Input("q", dtype, {2, 16, 32});
  const BufferRef k = b.Input("k", dtype, {2, 32, 32});
  const BufferRef v = b.Input("v", dtype, {2, 32, 32});
  const BufferRef scores = b.Call("bmm", {q, k}, {.names = {"scores"}})[0];
  const BufferRef rows = b.View(scores, {32, 32}, {32, 1}, 0, "score_rows");
  const BufferRef weights = b.Call("softmax", {rows}, {.names = {"weights"}})[0];
  const BufferRef batches = b.View(weights, {2, 16, 32}, {512, 32, 1}, 0, "weight_batches");
  b.Output(b.Call("bmm", {batches, v}, {.names = {"out"}})[0]);
  return b.Finish();
}

// Returns a plan of geglu(x gate, x up) down. A library computes the first two products into memory of the plan, and
// the last one into its own memory.
inline absl::StatusOr<Plan> GatedMlpPlan() {
  PlanBuilder b("gated_mlp");
  const BufferRef x = b.Input("x", device::DType::kF32, {16, 32});
  const BufferRef gate = b.Input("gate", device::DType::kF32, {32, 64});
  const BufferRef up = b.Input("up", device::DType::kF32, {32, 64});
  const BufferRef down = b.Input("down", device::DType::kF32, {64, 32});
  b.Comment("gate and up");
  const BufferRef gated = b.CallExtern("matmul", {x, gate}, {.names = {"gated"}})[0];
  const BufferRef raised = b.CallExtern("matmul", {x, up}, {.names = {"raised"}})[0];
  const BufferRef hidden = b.Call("geglu", {gated, raised}, {.names = {"hidden"}})[0];
  const BufferRef product = b.CallExternAllocating("matmul", {hidden, down}, {.names = {"product"}})[0];
  b.Comment("leave room");
  b.Output(b.Call("exp", {b.View(product, {32, 16}, {16, 1}, 0, "reshaped")}, {.names = {"out"}})[0]);
  return b.Finish();
}

// Returns a plan of the softmax of a column-major matrix, then of the lower half of the result, which begins at an
// offset of 4 KiB.
inline absl::StatusOr<Plan> StridedSoftmaxPlan(device::DType dtype = device::DType::kF16) {
  PlanBuilder b("strided_softmax");
  const BufferRef x = b.Input("x", dtype, {64, 64}, {1, 64});
  const BufferRef out = b.Call("softmax", {x}, {.names = {"out"}})[0];
  const BufferRef lower = b.View(out, {32, 64}, {64, 1}, 2048, "lower");
  b.Output(out);
  b.Output(b.Call("softmax", {lower}, {.names = {"twice"}})[0]);
  return b.Finish();
}

// Returns a plan of the loss of normalised rows. A library computes the norm and returns three buffers.
inline absl::StatusOr<Plan> NormedLossPlan(device::DType dtype = device::DType::kBF16) {
  PlanBuilder b("normed_loss");
  const BufferRef x = b.Input("x", dtype, {16, 48});
  const BufferRef weight = b.Input("weight", dtype, {48});
  const BufferRef bias = b.Input("bias", dtype, {48});
  const BufferRef labels = b.Input("labels", device::DType::kI32, {16});
  const CallOutputs norm =
      b.CallExternAllocating("layer_norm", {x, weight, bias}, {.names = {"logits", "mean", "rstd"}});
  b.Free(norm[1]);
  b.Comment("into memory that is there");
  const BufferRef loss = b.Allocate("loss", device::DType::kF32, {16});
  b.Call("cross_entropy", {norm[0], labels}, {.into = {loss}});
  b.Output(norm[2]);
  b.Output(loss);
  return b.Finish();
}

// Returns a plan that updates rows of a table, twice: adds the softmax of some rows, then overwrites others. A view of
// the table, made before, reads the new rows.
inline absl::StatusOr<Plan> RowUpdatePlan(device::DType dtype = device::DType::kF32) {
  PlanBuilder b("row_update");
  const BufferRef table = b.Input("table", dtype, {128, 32});
  const BufferRef rows = b.Input("rows", device::DType::kI32, {16});
  const BufferRef others = b.Input("others", device::DType::kI32, {16});
  const BufferRef updates = b.Input("updates", dtype, {16, 32}, {40, 1});
  const BufferRef updated = b.Call("exp", {table}, {.names = {"updated"}})[0];
  const BufferRef lower = b.View(updated, {64, 32}, {32, 1}, int64_t{64} * 32, "lower");
  const BufferRef added = b.Call("softmax", {updates}, {.names = {"added"}})[0];
  b.IndexPut(updated, rows, added, /*accumulate=*/true);
  b.IndexPut(updated, others, updates);
  b.Output(b.Call("softmax", {lower}, {.names = {"out"}})[0]);
  b.Output(updated);
  return b.Finish();
}

// Returns a plan that updates elements of a table: overwrites one in some columns of each row, adds a softmax to rows,
// keeps the larger elements of others, takes means, sets elements to a number, and adds a number.
inline absl::StatusOr<Plan> ElementUpdatePlan(device::DType dtype = device::DType::kF32) {
  PlanBuilder b("element_update");
  const BufferRef table = b.Input("table", dtype, {24, 16});
  const BufferRef columns = b.Input("columns", device::DType::kI32, {20, 3});
  const BufferRef rows = b.Input("rows", device::DType::kI32, {40, 16});
  const BufferRef others = b.Input("others", device::DType::kI32, {40, 16}, {1, 40});
  const BufferRef values = b.Input("values", dtype, {20, 3}, {4, 1});
  const BufferRef updates = b.Input("updates", dtype, {40, 16});
  const BufferRef updated = b.Call("softmax", {table}, {.names = {"updated"}})[0];
  const BufferRef turned = b.View(updated, {16, 24}, {1, 16}, 0, "turned");
  const BufferRef added = b.Call("softmax", {updates}, {.names = {"added"}})[0];
  b.Scatter(updated, 1, columns, values);
  b.Scatter(updated, 0, rows, added, Reduction::kSum);
  b.Scatter(updated, 0, others, updates, Reduction::kMax);
  b.Scatter(updated, 0, rows, added, Reduction::kMean);
  b.Scatter(updated, 1, columns, 0.3);
  b.Scatter(updated, 0, others, 0.125, Reduction::kSum);
  b.Output(b.Call("softmax", {turned}, {.names = {"out"}})[0]);
  b.Output(updated);
  return b.Finish();
}

// Returns a plan that joins tensors: rows of three, one of them an input with gaps and one a view, then columns of two.
inline absl::StatusOr<Plan> JoinedPlan(device::DType dtype = device::DType::kF32) {
  PlanBuilder b("joined");
  const BufferRef x = b.Input("x", dtype, {8, 16});
  const BufferRef wide = b.Input("wide", dtype, {4, 16}, {20, 1});
  const BufferRef made = b.Call("exp", {x}, {.names = {"made"}})[0];
  const BufferRef turned = b.View(made, {8, 16}, {1, 8}, 0, "turned");
  const BufferRef rows = b.Concatenate({x, wide, turned}, 0, {.names = {"rows"}});
  const BufferRef sharp = b.Call("softmax", {rows}, {.names = {"sharp"}})[0];
  const BufferRef both = b.Allocate("both", dtype, {20, 32});
  b.Concatenate({rows, sharp}, 1, {.into = {both}});
  b.Output(b.Call("softmax", {both}, {.names = {"out"}})[0]);
  b.Output(rows);
  return b.Finish();
}

// Returns a plan with conditionals: rows are normalised, and then doubled or not, or they are sharpened. The lines
// behind are in a subgraph.
inline absl::StatusOr<Plan> RoutedPlan(device::DType dtype = device::DType::kF32) {
  PlanBuilder b("routed");
  const BufferRef x = b.Input("x", dtype, {16, 32});
  const BufferRef weight = b.Input("weight", dtype, {32});
  const BufferRef is_normed = b.Input("is_normed", device::DType::kBool, {1});
  const BufferRef is_doubled = b.Input("is_doubled", device::DType::kI32, {});
  const BufferRef hidden = b.Call("exp", {x}, {.names = {"hidden"}})[0];
  const BufferRef routed = b.Allocate("routed_rows", dtype, {16, 32});
  const BufferRef turned = b.View(routed, {32, 16}, {1, 32}, 0, "turned");
  b.If(is_normed);
  const CallOutputs norm =
      b.CallExternAllocating("layer_norm", {hidden, weight, weight}, {.names = {"normed", "mean", "rstd"}});
  b.If(is_doubled);
  b.Call("add", {norm[0], norm[0]}, {.into = {routed}});
  b.Else();
  b.Call("softmax", {norm[0]}, {.into = {routed}});
  b.EndIf();
  b.Else();
  const BufferRef weights = b.Call("softmax", {hidden}, {.names = {"weights"}})[0];
  const BufferRef mixed = b.Call("add", {weights, hidden}, {.names = {"mixed"}})[0];
  const BufferRef sharp = b.Call("softmax", {mixed}, {.names = {"sharp"}})[0];
  b.Call("add", {sharp, mixed}, {.into = {routed}});
  b.EndIf();
  const BufferRef out = b.Allocate("out", dtype, {32, 16});
  b.EnterSubgraph("tail");
  b.Call("exp", {b.Call("softmax", {turned}, {.names = {"columns"}})[0]}, {.into = {out}});
  b.ExitSubgraph();
  b.Output(out);
  return b.Finish();
}

}  // namespace telemetry::worker::wrapper
