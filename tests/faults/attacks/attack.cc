#include "tests/faults/attacks/attack.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/environment.h"

namespace telemetry::faults {

std::string Target::address() const { return absl::StrCat("127.0.0.1:", port); }

std::vector<Attack> AllAttacks() {
  std::vector<Attack> all;
  for (const auto& attacks :
       {ConnectionAttacks(), MessageAttacks(), RecordAttacks(), ExportAttacks(), CacheAttacks(), ModelAttacks()}) {
    all.insert(all.end(), attacks.begin(), attacks.end());
  }
  return all;
}

bool FullSize() { return Faults() >= 1000; }

void ForEver(int threads, const std::function<void(int)>& attack) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&attack, i] {
      while (true) attack(i);
    });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace telemetry::faults
