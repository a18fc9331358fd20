// Compares two clouds of points whose places are uncertain, as in the fusion of images of single molecules. The value of
// two points a and b is exp(-|a - b|^2 / (2 (sigma_a^2 + sigma_b^2))); the distance of two clouds is the sum of the values
// of all pairs. `expdist` adds the values of each point of the first cloud, `expdist_total` adds these sums: neither needs
// atomic operations. A specification tunes each of them.
//
// A point is x and y. A block of expdist computes block_size_y * tile_size_y sums. Each of its threads computes
// tile_size_y of them over every block_size_x-th point of the second cloud, tile_size_x points at a time. With
// use_shared, the block reads the second cloud through local memory.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

double value_of(double ax, double ay, double sigma_a, double bx, double by, double sigma_b) {
  const double dx = ax - bx, dy = ay - by;
  return exp(-(dx * dx + dy * dy) / (2 * (sigma_a * sigma_a + sigma_b * sigma_b)));
}

#ifdef tile_size_y
#define ROWS (block_size_y * tile_size_y)
#define COLUMNS (block_size_x * tile_size_x)

__kernel void expdist(__global double* sums, __global const double* a, __global const double* sigma_a,
                      __global const double* b, __global const double* sigma_b, int a_count, int b_count) {
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const int first = (int)get_group_id(0) * ROWS + y;
  double own[tile_size_y];
  for (int i = 0; i < tile_size_y; ++i) own[i] = 0;
#if use_shared
  __local double piece[3][COLUMNS];
#endif
  for (int begin = 0; begin < b_count; begin += COLUMNS) {
#if use_shared
    for (int j = y * block_size_x + x; j < COLUMNS; j += block_size_x * block_size_y) {
      const int at = min(begin + j, b_count - 1);
      piece[0][j] = b[2 * at];
      piece[1][j] = b[2 * at + 1];
      piece[2][j] = sigma_b[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define B(j) piece[0][j], piece[1][j], piece[2][j]
#else
#define B(j) b[2 * (begin + (j))], b[2 * (begin + (j)) + 1], sigma_b[begin + (j)]
#endif
    for (int i = 0; i < tile_size_y; ++i) {
      const int row = min(first + i * block_size_y, a_count - 1);
#pragma unroll
      for (int k = 0; k < tile_size_x; ++k) {
        const int j = x + k * block_size_x;
        if (begin + j < b_count) own[i] += value_of(a[2 * row], a[2 * row + 1], sigma_a[row], B(j));
      }
    }
#if use_shared
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
  __local double parts[block_size_y][block_size_x];
  for (int i = 0; i < tile_size_y; ++i) {
    parts[y][x] = own[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int other = block_size_x / 2; other > 0; other /= 2) {
      if (x < other) parts[y][x] += parts[y][x + other];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    const int row = first + i * block_size_y;
    if (x == 0 && row < a_count) sums[row] = parts[y][0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#else
// One block adds all sums. Each thread has values_per_step sums at a time.
__kernel void expdist_total(__global double* total, __global const double* sums, int count) {
  __local double parts[block_size_x];
  const int x = (int)get_local_id(0);
  double own[values_per_step];
  for (int k = 0; k < values_per_step; ++k) own[k] = 0;
  for (int begin = 0; begin < count; begin += block_size_x * values_per_step) {
#pragma unroll
    for (int k = 0; k < values_per_step; ++k) {
      const int at = begin + k * block_size_x + x;
      if (at < count) own[k] += sums[at];
    }
  }
  for (int k = 1; k < values_per_step; ++k) own[0] += own[k];
  parts[x] = own[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int other = block_size_x / 2; other > 0; other /= 2) {
    if (x < other) parts[x] += parts[x + other];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x == 0) *total = parts[0];
}
#endif

// The same by one thread for each sum.
__kernel void expdist_reference(__global double* sums, __global const double* a, __global const double* sigma_a,
                                __global const double* b, __global const double* sigma_b, int a_count, int b_count) {
  const int row = (int)get_global_id(0);
  if (row >= a_count) return;
  double sum = 0;
  for (int j = 0; j < b_count; ++j) {
    sum += value_of(a[2 * row], a[2 * row + 1], sigma_a[row], b[2 * j], b[2 * j + 1], sigma_b[j]);
  }
  sums[row] = sum;
}
