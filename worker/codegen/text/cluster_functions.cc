#include "worker/codegen/text/cluster_functions.h"

#include <string>
#include <string_view>

namespace telemetry::worker::codegen::text {
namespace {

constexpr std::string_view kArrive = R"(FN void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
)";
constexpr std::string_view kWait = R"(FN void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
)";
constexpr std::string_view kRead = R"(FN u32 cluster_read(const void* own, int rank) {
  const u32 here = (u32)__cvta_generic_to_shared(own);
  u32 there, word;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(there) : "memory");
  return word;
}
)";

constexpr std::string_view kReadWide = R"(FN unsigned long cluster_read_wide(const void* own, int rank) {
  const u32 low = cluster_read(own, rank);
  return (unsigned long)cluster_read((const u8*)own + 4, rank) << 32 | low;
}
)";

}  // namespace

void AddWideClusterRead(DialectText* dialect) { dialect->AddFunction("cluster_read_wide", std::string(kReadWide)); }

void AddClusterFunctions(DialectText* dialect) {
  dialect->AddFunction("cluster_arrive", std::string(kArrive));
  dialect->AddFunction("cluster_wait", std::string(kWait));
  dialect->AddFunction("cluster_read", std::string(kRead));
}

}  // namespace telemetry::worker::codegen::text
