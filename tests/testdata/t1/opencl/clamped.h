#pragma once

// Returns the index of a pixel; pixels outside of the image are those at its edge.
inline int clamped_index(int x, int y) { return clamp(y, 0, HEIGHT - 1) * WIDTH + clamp(x, 0, WIDTH - 1); }
