// The sum over all channels of a telescope's samples, each channel delayed by the dispersion: output[dm][time] is the sum
// of input[channel][time + delay], where the delay is dm * step * factor(channel), rounded. A thread computes
// times_per_thread times of dms_per_thread dispersion measures. A row of the input has `samples` samples.
extern "C" __global__ void dedispersion(float* output, const float* input, const float* factors, int channels,
                         int samples, int dms, int times, float step) {
  float sums[dms_per_thread][times_per_thread];
  for (int i = 0; i < dms_per_thread; ++i) {
    for (int j = 0; j < times_per_thread; ++j) sums[i][j] = 0;
  }
  const int dm = (int)blockIdx.y * block_size_y * dms_per_thread + (int)threadIdx.y;
  const int time = (int)blockIdx.x * block_size_x * times_per_thread + (int)threadIdx.x;
#pragma unroll unroll_factor
  for (int channel = 0; channel < channels; ++channel) {
    const float factor = (channels - 1 - channel) * factors[channel];
    const float* const row = input + (long)channel * samples;
    for (int i = 0; i < dms_per_thread; ++i) {
      const int delay = (int)((dm + i * block_size_y) * step * factor + 0.5f);
      for (int j = 0; j < times_per_thread; ++j) {
        const int at = time + j * block_size_x + delay;
        sums[i][j] += at < samples ? row[at] : 0;
      }
    }
  }
  for (int i = 0; i < dms_per_thread; ++i) {
    for (int j = 0; j < times_per_thread; ++j) {
      const int y = dm + i * block_size_y, x = time + j * block_size_x;
      if (y < dms && x < times) output[(long)y * times + x] = sums[i][j];
    }
  }
}
