// c = a b for row-major matrices: c is m by n, a is m by k, b is k by n. A block computes a tile of c of
// block_size_y * rows_per_thread by block_size_x * columns_per_thread elements. It reads a and b in pieces of depth
// columns or rows through shared memory.
#define TILE_ROWS (block_size_y * rows_per_thread)
#define TILE_COLUMNS (block_size_x * columns_per_thread)

__kernel void gemm(__global float* c, __global const float* a, __global const float* b, int m, int n, int k) {
  __local float a_piece[TILE_ROWS][depth + padding];
  __local float b_piece[depth][TILE_COLUMNS];
  const int row = (int)get_group_id(1) * TILE_ROWS, column = (int)get_group_id(0) * TILE_COLUMNS;
  const int thread = (int)get_local_id(1) * block_size_x + (int)get_local_id(0);
  float sums[rows_per_thread][columns_per_thread];
  for (int i = 0; i < rows_per_thread; ++i) {
    for (int j = 0; j < columns_per_thread; ++j) sums[i][j] = 0;
  }
  for (int begin = 0; begin < k; begin += depth) {
    for (int at = thread; at < TILE_ROWS * depth; at += block_size_x * block_size_y) {
      const int i = at / depth, l = at % depth;
      a_piece[i][l] = row + i < m && begin + l < k ? a[(row + i) * k + begin + l] : 0;
    }
    for (int at = thread; at < depth * TILE_COLUMNS; at += block_size_x * block_size_y) {
      const int l = at / TILE_COLUMNS, j = at % TILE_COLUMNS;
      b_piece[l][j] = begin + l < k && column + j < n ? b[(begin + l) * n + column + j] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int l = 0; l < depth; ++l) {
      float ours[rows_per_thread];
      for (int i = 0; i < rows_per_thread; ++i) ours[i] = a_piece[(int)get_local_id(1) + i * block_size_y][l];
      for (int j = 0; j < columns_per_thread; ++j) {
        const float theirs = b_piece[l][(int)get_local_id(0) + j * block_size_x];
        for (int i = 0; i < rows_per_thread; ++i) sums[i][j] += ours[i] * theirs;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < rows_per_thread; ++i) {
    for (int j = 0; j < columns_per_thread; ++j) {
      const int y = row + (int)get_local_id(1) + i * block_size_y, x = column + (int)get_local_id(0) + j * block_size_x;
      if (y < m && x < n) c[y * n + x] = sums[i][j];
    }
  }
}
