# ---- The device, by CuPy.

import time


def allocate(dtype, sizes, strides, elements):
    """Fills memory with NaN, or -1, so that elements that a kernel does not write are visible."""
    memory = cupy.empty(elements, DTYPES[dtype])
    memory.data.memset(0xFF, memory.nbytes)
    return view(memory, sizes, strides)


def view(base, sizes, strides, offset=0):
    """Sizes, strides and offset in elements."""
    strides = [stride * base.itemsize for stride in strides]
    return cupy.ndarray(sizes, base.dtype, base.data + offset * base.itemsize, strides)


def make_input(dtype, sizes, strides, elements, low, high):
    return view(cupy.asarray(random.draw(dtype, elements, low, high)), sizes, strides)


random = Random(SEED)


def check_output(dtype, array, name, *expected):
    check_values(name, decode(dtype, cupy.asnumpy(array)), *expected)


# ---- Times of each launch after a flush of the device's cache: in a real program the first call finds it cold.

is_timed = False
all_ms = 0.0

TIMING_SOURCE = r'''
extern "C" __global__ void read_zeros(uint4* zeros, long long count) {
  unsigned seen = 0;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 word = zeros[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen != 0) zeros[0].x = seen;
}

extern "C" __global__ void hold(int ns) {
  unsigned long long begin_ns, now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  } while (now_ns - begin_ns < (unsigned long long)ns);
}
'''


class Timer:
    def __init__(self):
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.blocks = 8 * properties["multiProcessorCount"]
        self.zeros = cupy.zeros(2 * min(properties["l2CacheSize"], 256 << 20), cupy.uint8)
        self.read = compile_kernel("read_zeros", TIMING_SOURCE)
        self.hold = compile_kernel("hold", TIMING_SOURCE)

    def sample(self, count, queue_work):
        """Flushes the cache by reading, because written data would be written back while the next kernel runs. Then
        keeps the device busy until Python has queued the work to be timed."""
        events = []
        for _ in range(count):
            self.read((self.blocks,), (256,), (self.zeros, np.int64(self.zeros.size // 16)))
            self.hold((1,), (1,), (np.int32(200000),))
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            queue_work()
            end.record()
            events.append((begin, end))
        cupy.cuda.Device().synchronize()
        return [cupy.cuda.get_elapsed_time(begin, end) for begin, end in events]


def run(name, queue_work):
    """Queues the work. With timing, samples it 200 times or for a second."""
    global all_ms, timer
    if not is_timed:
        return queue_work()
    timer = timer or Timer()
    batch = int(min(max(100 / max(timer.sample(1, queue_work)[0], 1e-3), 1), 32))
    samples_ms, begin = [], time.monotonic()
    while len(samples_ms) < 200 and (len(samples_ms) < 3 or time.monotonic() - begin < 1):
        samples_ms += timer.sample(batch, queue_work)
    median_ms = float(np.median(samples_ms))
    all_ms += median_ms
    print(f"{name}: median {median_ms:.4f} ms ({len(samples_ms)} samples, min {min(samples_ms):.4f}, "
          f"max {max(samples_ms):.4f})")


timer = None


def launch(name, kernel, grid, threads, shared_bytes, *arguments):
    if grid == 0:
        return
    if shared_bytes > 48 << 10:
        kernel.max_dynamic_shared_size_bytes = shared_bytes
    run(name, lambda: kernel((grid,), (threads,), arguments, shared_mem=shared_bytes))
