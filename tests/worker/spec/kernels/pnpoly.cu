// For each point, 1 if it lies in the polygon, else 0: an even or odd number of edges is crossed on the way to the right.
// A thread tests points_per_thread points. `method` is the way in which it finds whether an edge is
// crossed. Coordinates are integers below 2^14, so that all methods have exactly the same results.
extern "C" __global__ void pnpoly(int* inside, const int2* points, const int2* corners, int point_count,
                   int corner_count) {
  const int first = (int)blockIdx.x * block_size_x * points_per_thread + (int)threadIdx.x;
  int2 own[points_per_thread];
  int is_inside[points_per_thread];
  for (int i = 0; i < points_per_thread; ++i) {
    const int at = first + i * block_size_x;
    own[i] = points[at < point_count ? at : 0];
    is_inside[i] = 0;
  }
  int2 from = corners[corner_count - 1];
#pragma unroll unroll_factor
  for (int j = 0; j < corner_count; ++j) {
    const int2 to = corners[j];
    for (int i = 0; i < points_per_thread; ++i) {
      const int x = own[i].x, y = own[i].y;
#if method == 0
      if ((to.y > y) != (from.y > y)) {
        const int side = (x - to.x) * (from.y - to.y) - (from.x - to.x) * (y - to.y);
        if ((side < 0) == (from.y > to.y)) is_inside[i] = !is_inside[i];
      }
#else
      const int side = (x - to.x) * (from.y - to.y) - (from.x - to.x) * (y - to.y);
#if method == 1
      is_inside[i] ^= ((to.y > y) != (from.y > y)) & ((side < 0) == (from.y > to.y));
#else
      is_inside[i] ^= (to.y > y) == (from.y > y) ? 0 : from.y > to.y ? side < 0 : side >= 0;
#endif
#endif
    }
    from = to;
  }
  for (int i = 0; i < points_per_thread; ++i) {
    const int at = first + i * block_size_x;
    if (at < point_count) inside[at] = is_inside[i];
  }
}
