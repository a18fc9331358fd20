#pragma once

#include "worker/wrapper/plan_builder.h"

namespace telemetry::worker::wrapper {

// layer_norm with its three outputs.
inline absl::StatusOr<Plan> LayerNormPlan() {
  PlanBuilder b("layer_norm");
  const BufferRef x = b.Input("x", DType::kF32, {8, 64});
  const BufferRef weight = b.Input("weight", DType::kF32, {64});
  const BufferRef bias = b.Input("bias", DType::kF32, {64});
  const CallOutputs norm =
      b.Call("layer_norm", {x, weight, bias}, {.names = {"out", "mean", "rstd"}, .numbers = {{"eps", 0.5}}});
  b.Output(norm[0]);
  b.Output(norm[1]);
  b.Output(norm[2]);
  return b.Finish();
}

// softmax(q k) v, k given as it is multiplied. Its scores are released at the end, for memory planning to do better.
inline absl::StatusOr<Plan> AttentionPlan(DType dtype = DType::kF32) {
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

// geglu(x gate, x up) down: the first two products by a library into the plan's memory, the last into its own.
inline absl::StatusOr<Plan> GatedMlpPlan() {
  PlanBuilder b("gated_mlp");
  const BufferRef x = b.Input("x", DType::kF32, {16, 32});
  const BufferRef gate = b.Input("gate", DType::kF32, {32, 64});
  const BufferRef up = b.Input("up", DType::kF32, {32, 64});
  const BufferRef down = b.Input("down", DType::kF32, {64, 32});
  b.Comment("gate and up");
  const BufferRef gated = b.CallExtern("matmul", {x, gate}, {.names = {"gated"}})[0];
  const BufferRef raised = b.CallExtern("matmul", {x, up}, {.names = {"raised"}})[0];
  const BufferRef hidden = b.Call("geglu", {gated, raised}, {.names = {"hidden"}})[0];
  const BufferRef product = b.CallExternAllocating("matmul", {hidden, down}, {.names = {"product"}})[0];
  b.Comment("leave room");
  b.Output(b.Call("exp", {b.View(product, {32, 16}, {16, 1}, 0, "reshaped")}, {.names = {"out"}})[0]);
  return b.Finish();
}

}  // namespace telemetry::worker::wrapper
