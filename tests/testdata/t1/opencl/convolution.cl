// A 2D convolution with a square filter. WIDTH, HEIGHT and RADIUS come from the compiler options.

#include "clamped.h"

#define SIDE (2 * RADIUS + 1)
#define TILE_WIDTH (block_size_x * tile_size_x)

__kernel void convolution(__global float* output, __global const float* input, __constant float* filter) {
#if use_local == 1
  __local float tile[block_size_y + 2 * RADIUS][TILE_WIDTH + 2 * RADIUS];
  const int left = get_group_id(0) * TILE_WIDTH - RADIUS;
  const int top = get_group_id(1) * block_size_y - RADIUS;
  for (int y = get_local_id(1); y < block_size_y + 2 * RADIUS; y += block_size_y) {
    for (int x = get_local_id(0); x < TILE_WIDTH + 2 * RADIUS; x += block_size_x) {
      tile[y][x] = input[clamped_index(left + x, top + y)];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  const int y = get_global_id(1);
  for (int i = 0; i < tile_size_x; ++i) {
    const int in_tile = get_local_id(0) + i * block_size_x;
    const int x = get_group_id(0) * TILE_WIDTH + in_tile;
    float sum = 0.0f;
    for (int dy = 0; dy < SIDE; ++dy) {
      for (int dx = 0; dx < SIDE; ++dx) {
#if use_local == 1
        const float pixel = tile[get_local_id(1) + dy][in_tile + dx];
#else
        const float pixel = input[clamped_index(x + dx - RADIUS, y + dy - RADIUS)];
#endif
        sum += pixel * filter[dy * SIDE + dx];
      }
    }
    if (x < WIDTH && y < HEIGHT) output[y * WIDTH + x] = sum;
  }
}
