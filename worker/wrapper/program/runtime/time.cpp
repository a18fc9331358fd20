// ---- Times of each launch after a flush of the device's cache: in a real program the first call finds it cold.

bool is_timed = false;
double all_ms = 0;

// Flushes the cache by reading: if it were full of written data, that data would be written back while the next kernel
// runs.
void QueueFlush() {
  static const Kernel read = Compile("read_zeros", kTimingSource);
  static const size_t cache = CacheBytes() == 0 ? size_t(32) << 20 : std::min(CacheBytes(), size_t(256) << 20);
  static const int64_t words = int64_t(2 * cache + 15) / 16;
  static const Buffer zeros = [] {
    const Buffer buffer = Allocate(I32, 4 * words);
    Upload(buffer, std::vector<unsigned char>(size_t(16 * words)));
    return buffer;
  }();
  Queue(read, int64_t(8) * ComputeUnits(), kFlushThreads, 0, zeros, words);
}

template <typename QueueWork>
std::vector<double> Sample(int count, const QueueWork& queue_work) {
  std::vector<std::pair<Event, Event>> events;
  for (int i = 0; i < count; ++i) {
    QueueFlush();
    QueueHold();
    const Event begin = Record();
    queue_work();
    events.emplace_back(begin, Record());
  }
  Synchronize();
  std::vector<double> samples_ms;
  for (const auto& [begin, end] : events) samples_ms.push_back(ElapsedMs(begin, end));
  return samples_ms;
}

// Queues the work. With timing, samples it 200 times or for a second.
template <typename QueueWork>
void Run(const char* name, const QueueWork& queue_work) {
  if (!is_timed) return queue_work();
  const double warm_up_ms = Sample(1, queue_work)[0];
  const int batch = int(std::clamp(100 / std::max(warm_up_ms, 1e-3), 1.0, 32.0));
  std::vector<double> samples_ms;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_over = [&] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(1); };
  while (samples_ms.size() < 200 && (samples_ms.size() < 3 || !is_over())) {
    const std::vector<double> more_ms = Sample(batch, queue_work);
    samples_ms.insert(samples_ms.end(), more_ms.begin(), more_ms.end());
  }
  std::sort(samples_ms.begin(), samples_ms.end());
  const size_t count = samples_ms.size();
  const double median_ms = (samples_ms[count / 2] + samples_ms[(count - 1) / 2]) / 2;
  all_ms += median_ms;
  std::printf("%s: median %.4f ms (%zu samples, min %.4f, max %.4f)\n", name, median_ms, count, samples_ms.front(),
              samples_ms.back());
}

template <typename... Arguments>
void Launch(const char* name, Kernel kernel, int64_t grid, int threads, size_t shared_bytes,
            const Arguments&... arguments) {
  Run(name, [&] { Queue(kernel, grid, threads, shared_bytes, arguments...); });
}
