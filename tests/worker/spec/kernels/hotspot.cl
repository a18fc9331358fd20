// One step of the temperature of a chip, a grid of width by height points: each point is heated by its power and
// exchanges heat with its four neighbours and the air. Points outside have the temperature of the nearest point. A
// thread computes points_per_thread points of a column. With use_shared, a block reads its points through shared memory.
#define TILE_ROWS (block_size_y * points_per_thread)

int at(int x, int y, int width, int height) {
  x = x < 0 ? 0 : x >= width ? width - 1 : x;
  y = y < 0 ? 0 : y >= height ? height - 1 : y;
  return y * width + x;
}

__kernel void hotspot(__global float* next, __global const float* now, __global const float* power, int width, int height) {
  const float step = 0.1f, air = 80.0f, heat = 0.2f, along_x = 0.3f, along_y = 0.25f, cooling = 0.05f;
  const int left = (int)get_group_id(0) * block_size_x, top = (int)get_group_id(1) * TILE_ROWS;
  const int x = left + (int)get_local_id(0);
#if use_shared
  __local float piece[TILE_ROWS + 2][block_size_x + 2];
  for (int i = (int)get_local_id(1); i < TILE_ROWS + 2; i += block_size_y) {
    for (int j = (int)get_local_id(0); j < block_size_x + 2; j += block_size_x) {
      piece[i][j] = now[at(left + j - 1, top + i - 1, width, height)];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#define NOW(dx, dy) piece[row + 1 + (dy)][(int)get_local_id(0) + 1 + (dx)]
#else
#define NOW(dx, dy) now[at(x + (dx), y + (dy), width, height)]
#endif
#pragma unroll
  for (int i = 0; i < points_per_thread; ++i) {
    const int row = (int)get_local_id(1) + i * block_size_y;
    const int y = top + row;
    if (x >= width || y >= height) continue;
    const float here = NOW(0, 0);
    next[y * width + x] = here + step * (heat * power[y * width + x] + along_x * (NOW(-1, 0) + NOW(1, 0) - 2 * here) +
                                         along_y * (NOW(0, -1) + NOW(0, 1) - 2 * here) + cooling * (air - here));
  }
}
