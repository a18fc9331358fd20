// out = in * filter for images in rows: out is width by height, in has FILTER_SIZE - 1 more rows and columns. A block
// computes a tile of out of block_size_y * tile_size_y by block_size_x * tile_size_x points. With use_shared, it reads in
// through shared memory; with use_padding, the rows there have so many more columns that the rows of a warp are in
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
#define LOAD(place) __ldg(place)
#else
#define LOAD(place) (*(place))
#endif

extern "C" {

__constant__ float filter[FILTER_SIZE * FILTER_SIZE];

__global__ void convolution(float* out, const float* in, int width, int height) {
  const int left = (int)blockIdx.x * TILE_COLUMNS, top = (int)blockIdx.y * TILE_ROWS;
  const int in_width = width + FILTER_SIZE - 1, in_height = height + FILTER_SIZE - 1;
#if use_shared
  __shared__ float piece[PIECE_ROWS][PIECE_COLUMNS + PADDING];
  for (int i = (int)threadIdx.y; i < PIECE_ROWS; i += block_size_y) {
    for (int j = (int)threadIdx.x; j < PIECE_COLUMNS; j += block_size_x) {
      const int y = top + i, x = left + j;
      piece[i][j] = y < in_height && x < in_width ? LOAD(in + y * in_width + x) : 0;
    }
  }
  __syncthreads();
#define IN(i, j) piece[i][j]
#else
  // Points beyond the last row or column are not part of any result.
#define IN(i, j) LOAD(in + min(top + (i), in_height - 1) * in_width + min(left + (j), in_width - 1))
#endif
  float sums[tile_size_y][tile_size_x] = {};
  for (int i = 0; i < FILTER_SIZE; ++i) {
#pragma unroll
    for (int j = 0; j < FILTER_SIZE; ++j) {
      const float weight = filter[i * FILTER_SIZE + j];
#pragma unroll
      for (int row = 0; row < tile_size_y; ++row) {
#pragma unroll
        for (int column = 0; column < tile_size_x; ++column) {
          sums[row][column] += weight * IN((int)threadIdx.y + row * block_size_y + i,
                                           (int)threadIdx.x + column * block_size_x + j);
        }
      }
    }
  }
#pragma unroll
  for (int row = 0; row < tile_size_y; ++row) {
#pragma unroll
    for (int column = 0; column < tile_size_x; ++column) {
      const int y = top + (int)threadIdx.y + row * block_size_y, x = left + (int)threadIdx.x + column * block_size_x;
      if (y < height && x < width) out[y * width + x] = sums[row][column];
    }
  }
}

// The same without tiles: a thread computes one point.
__global__ void convolution_reference(float* out, const float* in, int width, int height) {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int i = 0; i < FILTER_SIZE; ++i) {
    for (int j = 0; j < FILTER_SIZE; ++j) {
      sum += filter[i * FILTER_SIZE + j] * in[(y + i) * (width + FILTER_SIZE - 1) + x + j];
    }
  }
  out[y * width + x] = sum;
}
}
