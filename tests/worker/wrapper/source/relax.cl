// Moves each value by a weight. A block reads its weights through local memory. The result does not depend on the block.
__kernel void relax(__global float* values, __global const float* weights, int count, double rate, ulong first,
                    uchar is_on, __local float* own) {
  const int at = (int)get_global_id(0);
  own[get_local_id(0)] = at < count ? weights[at] * (float)rate : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (is_on && at < count && (ulong)at >= first) values[at] += own[get_local_id(0)];
}
