#pragma once

#include "tests/server/web/web_story.h"

namespace telemetry::web {

// Sends a small dataset with known values and refreshes the summaries:
//   run a: "softmax", [(4096, 2560)], ['torch.float16'], NVIDIA H200, with a device graph
//     attempt A: complete, origin ci/1, algorithm random, seed 7, dialect of a live producer, two events
//       seq 1: config 1, ok, 2 ms, compiled in 0.5 s     seq 2: config 2, ok, 1 ms, generation 1
//       seq 3, 4: configs 3 and 4, error "out of registers: 300 needed" and "... 280 needed"
//       seq 5: config 5, timeout                          seq 6: config 6, started, never ends
//       seq 7, 8: configs 2 and 1, final, 0.9 and 1.8 ms, with five samples each
//     attempt B: open: config 1, ok, 2.2 ms; config 2, ok, 1.1 ms
//   run b: the same kernel on an A100, sender ci: attempt C: configs 1 and 2, ok, 4 and 6 ms
//   run c: "rms_norm" with another source on an H200, sender ci: attempt D: config 1, ok, 8 ms
// The configs are Config(num_warps=W, sizes=[S, 32]) with W and S: 1: 4, 16; 2: 8, 16; 3: 4, 64; 4: 8, 64; 5: 8, 32;
// 6: 8, 32.
void SendSample(WebStory* story);

}  // namespace telemetry::web
