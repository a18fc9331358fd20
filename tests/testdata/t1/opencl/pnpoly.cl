// Tells for each point if it is inside a polygon: counts the edges that a ray from the point crosses.

__kernel void pnpoly(__global int* inside, __global const float2* points, __constant float2* vertices, short corners) {
  for (int i = 0; i < points_per_item; ++i) {
    const int at = get_group_id(0) * block_size_x * points_per_item + i * block_size_x + get_local_id(0);
    if (at >= problem_points) return;
    const float2 point = points[at];
    int crossings = 0;
    for (int corner = 0, last = corners - 1; corner < corners; last = corner++) {
      const float2 a = vertices[corner];
      const float2 b = vertices[last];
      const float x = (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x;
#if method == 0
      if ((a.y > point.y) != (b.y > point.y) && point.x < x) ++crossings;
#else
      crossings += ((a.y > point.y) ^ (b.y > point.y)) & (point.x < x);
#endif
    }
    inside[at] = crossings & 1;
  }
}
