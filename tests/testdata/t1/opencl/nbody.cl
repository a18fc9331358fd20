// The accelerations of bodies that attract each other. The fourth component of a position is the mass.

float3 attraction(float4 body, float4 other, float softening) {
  const float3 distance = other.xyz - body.xyz;
  const float inverse = rsqrt(dot(distance, distance) + softening);
  return distance * (other.w * inverse * inverse * inverse);
}

__kernel void nbody(__global const float4* bodies, __global float4* accelerations, int count, float softening) {
  __local float4 tile[block_size];
  const float4 body = bodies[get_global_id(0)];
  float3 sum = (float3)(0.0f);
  for (int first = 0; first < count; first += block_size) {
    tile[get_local_id(0)] = bodies[first + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll unroll_factor
    for (int i = 0; i < block_size; ++i) sum += attraction(body, tile[i], softening);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  accelerations[get_global_id(0)] = (float4)(sum, 0.0f);
}

// The reference: one body for each work-item, without local memory.
__kernel void nbody_reference(__global const float4* bodies, __global float4* accelerations, int count,
                              float softening) {
  const float4 body = bodies[get_global_id(0)];
  float3 sum = (float3)(0.0f);
  for (int i = 0; i < count; ++i) sum += attraction(body, bodies[i], softening);
  accelerations[get_global_id(0)] = (float4)(sum, 0.0f);
}
