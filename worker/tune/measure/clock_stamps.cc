#include "worker/tune/measure/clock_stamps.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::worker::tune::measure {
namespace {

constexpr char kSource[] = R"(
extern "C" __global__ void stamp(unsigned long long* stamps, int index, int busy_ns) {
  unsigned long long begin_ns;
  unsigned long long now_ns;
  unsigned multiprocessor;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  const long long cycles = clock64();
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  stamps[3 * index] = begin_ns;
  stamps[3 * index + 1] = (unsigned long long)cycles;
  stamps[3 * index + 2] = multiprocessor;
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  } while (now_ns - begin_ns < (unsigned long long)busy_ns);
}
)";

// Long enough for the host to queue three operations behind the stamp.
constexpr int32_t kBusyNs = 8000;

struct StampRecord {
  uint64_t ns = 0;
  uint64_t cycles = 0;
  uint64_t multiprocessor = 0;
};

double RateMhz(const StampRecord& from, const StampRecord& to) {
  if (from.multiprocessor != to.multiprocessor || to.ns <= from.ns || to.cycles <= from.cycles) return 0;
  return static_cast<double>(to.cycles - from.cycles) / static_cast<double>(to.ns - from.ns) * 1e3;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClockStamps>> ClockStamps::Create(std::shared_ptr<device::Device> device) {
  if (device->properties().dialect != device::Dialect::kCuda) return nullptr;
  ASSIGN_OR_RETURN(const device::CompiledCode code, device->Compile(kSource));
  ASSIGN_OR_RETURN(const std::unique_ptr<device::Module> module, device->Load(code));
  ASSIGN_OR_RETURN(std::unique_ptr<device::Function> stamp, module->GetFunction("stamp"));
  ASSIGN_OR_RETURN(std::unique_ptr<device::Buffer> stamps, device->Allocate(kMostStamps * sizeof(StampRecord)));
  return std::unique_ptr<ClockStamps>(new ClockStamps(std::move(device), std::move(stamp), std::move(stamps)));
}

absl::Status ClockStamps::Stamp(int index) {
  return stamp_->Launch({.grid = 1, .threads = 1}, {stamps_.get(), int32_t{index}, kBusyNs});
}

absl::StatusOr<std::vector<double>> ClockStamps::RatesMhz(int count) {
  std::vector<StampRecord> records(static_cast<size_t>(count) + 1);
  const absl::Span<std::byte> bytes(reinterpret_cast<std::byte*>(records.data()), records.size() * sizeof(StampRecord));
  RETURN_IF_ERROR(device_->Download(stamps_.get(), 0, bytes));
  std::vector<double> rates;
  for (size_t i = 0; i + 1 < records.size(); ++i) rates.push_back(RateMhz(records[i], records[i + 1]));
  return rates;
}

}  // namespace telemetry::worker::tune::measure
