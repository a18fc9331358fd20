// out = in * filter for images in rows: out is width by height, in has FILTER_SIZE - 1 more rows and columns. A block
// computes a tile of out of block_size_y * tile_size_y by block_size_x * tile_size_x points. With use_shared, it reads in
// through local memory; with use_padding, the rows there have so many more columns that the rows of a warp are in
// different banks.
#define FILTER_SIZE 17
#define TILE_ROWS (block_size_y * tile_size_y)
#define TILE_COLUMNS (block_size_x * tile_size_x)
#define PIECE_ROWS (TILE_ROWS + FILTER_SIZE - 1)
#define PIECE_COLUMNS (TILE_COLUMNS + FILTER_SIZE - 1)
#if use_padding
#define PADDING ((32 + block_size_x % 32 - PIECE_COLUMNS % 32) % 32)
#else
#define PADDING 0
#endif
#if read_only
#define INPUT __global const float* restrict
#else
#define INPUT __global const float*
#endif

__kernel void convolution(__global float* out, INPUT in, __constant float* filter, int width, int height) {
  const int left = (int)get_group_id(0) * TILE_COLUMNS, top = (int)get_group_id(1) * TILE_ROWS;
  const int own_x = (int)get_local_id(0), own_y = (int)get_local_id(1);
  const int in_width = width + FILTER_SIZE - 1, in_height = height + FILTER_SIZE - 1;
#if use_shared
  __local float piece[PIECE_ROWS][PIECE_COLUMNS + PADDING];
  for (int i = own_y; i < PIECE_ROWS; i += block_size_y) {
    for (int j = own_x; j < PIECE_COLUMNS; j += block_size_x) {
      const int y = top + i, x = left + j;
      piece[i][j] = y < in_height && x < in_width ? in[y * in_width + x] : 0;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#define IN(i, j) piece[i][j]
#else
  // Points beyond the last row or column are not part of any result.
#define IN(i, j) in[min(top + (i), in_height - 1) * in_width + min(left + (j), in_width - 1)]
#endif
  float sums[tile_size_y][tile_size_x];
  for (int row = 0; row < tile_size_y; ++row) {
    for (int column = 0; column < tile_size_x; ++column) sums[row][column] = 0;
  }
  for (int i = 0; i < FILTER_SIZE; ++i) {
    for (int j = 0; j < FILTER_SIZE; ++j) {
      const float weight = filter[i * FILTER_SIZE + j];
#pragma unroll
      for (int row = 0; row < tile_size_y; ++row) {
#pragma unroll
        for (int column = 0; column < tile_size_x; ++column) {
          sums[row][column] += weight * IN(own_y + row * block_size_y + i, own_x + column * block_size_x + j);
        }
      }
    }
  }
  for (int row = 0; row < tile_size_y; ++row) {
    for (int column = 0; column < tile_size_x; ++column) {
      const int y = top + own_y + row * block_size_y, x = left + own_x + column * block_size_x;
      if (y < height && x < width) out[y * width + x] = sums[row][column];
    }
  }
}

// The same without tiles: a work item computes one point.
__kernel void convolution_reference(__global float* out, __global const float* in, __constant float* filter, int width,
                                    int height) {
  const int x = (int)get_global_id(0), y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int i = 0; i < FILTER_SIZE; ++i) {
    for (int j = 0; j < FILTER_SIZE; ++j) {
      sum += filter[i * FILTER_SIZE + j] * in[(y + i) * (width + FILTER_SIZE - 1) + x + j];
    }
  }
  out[y * width + x] = sum;
}
