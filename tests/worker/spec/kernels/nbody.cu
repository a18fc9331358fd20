// The acceleration of each body by the gravity of all others: x, y, z and mass of a body are a float4. A thread computes
// bodies_per_thread accelerations. With use_shared, a block copies the other bodies to shared memory in turns.
extern "C" __global__ void nbody(float4* accelerations, const float4* bodies, int count, float softening) {
  const int first = (int)blockIdx.x * block_size_x * bodies_per_thread + (int)threadIdx.x;
  float4 own[bodies_per_thread];
  float sums[bodies_per_thread][3];
  for (int i = 0; i < bodies_per_thread; ++i) {
    const int at = first + i * block_size_x;
    own[i] = bodies[at < count ? at : 0];
    sums[i][0] = sums[i][1] = sums[i][2] = 0;
  }
#if use_shared
  __shared__ float4 piece[block_size_x];
#endif
  for (int begin = 0; begin < count; begin += block_size_x) {
#if use_shared
    __syncthreads();
    if (begin + (int)threadIdx.x < count) piece[(int)threadIdx.x] = bodies[begin + (int)threadIdx.x];
    __syncthreads();
#endif
    const int end = count - begin < block_size_x ? count - begin : block_size_x;
#pragma unroll unroll_factor
    for (int j = 0; j < end; ++j) {
#if use_shared
      const float4 other = piece[j];
#else
      const float4 other = bodies[begin + j];
#endif
      for (int i = 0; i < bodies_per_thread; ++i) {
        const float x = other.x - own[i].x, y = other.y - own[i].y, z = other.z - own[i].z;
        const float inverse = rsqrtf(x * x + y * y + z * z + softening);
        const float pull = other.w * inverse * inverse * inverse;
        sums[i][0] += pull * x;
        sums[i][1] += pull * y;
        sums[i][2] += pull * z;
      }
    }
  }
  for (int i = 0; i < bodies_per_thread; ++i) {
    const int at = first + i * block_size_x;
    if (at < count) accelerations[at] = make_float4(sums[i][0], sums[i][1], sums[i][2], 0);
  }
}
