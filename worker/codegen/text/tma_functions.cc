#include "worker/codegen/text/tma_functions.h"

#include <string_view>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::text {
namespace {

using record::Cat;

// More than the blocks that all multiprocessors of an sm_90 device hold at once: 132 times the 12 blocks of 160
// threads. With as many, no block waits for another one's descriptors.
constexpr int kTensorMapOwners = 2048;
constexpr int kOwnersOfUnit = 12;

constexpr std::string_view kBarriers =
    R"(FN u32 shared_address(const void* at) { return (u32)__cvta_generic_to_shared(at); }
FN void init_barrier(u64* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
FN void share_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
FN void arrive_at(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}
FN void expect_bytes(u64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}
FN bool has_ended(u64* barrier, u32 phase) {
  u32 ended;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(ended) : "r"(shared_address(barrier)), "r"(phase) : "memory");
  return ended != 0;
}
FN void wait_for_phase(u64* barrier, u32 phase) {
  while (!has_ended(barrier, phase)) {}
}
FN bool is_elected() {
  u32 elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}
)";

// Emits the statement that sets one field of the descriptor at `at`.
std::string Set(const std::string& field, const std::string& bits, int64_t value) {
  const bool wide = bits == "b64";
  return Cat("    asm volatile(\"tensormap.replace.tile.", field, "\" :: \"r\"(at), \"", wide ? "l" : "r", "\"(",
             wide ? "(u64)" : "", value, ") : \"memory\");\n");
}

std::string SetItem(const std::string& field, const std::string& bits, size_t item, int64_t value) {
  return Set(Cat(field, ".shared::cta.b1024.", bits, " [%0], ", item, ", %1;"), bits, value);
}

// The same for a field whose value is part of the instruction.
std::string SetConstant(const std::string& field, int64_t value) {
  return Cat("    asm volatile(\"tensormap.replace.tile.", field, ".shared::cta.b1024.b32 [%0], ", value,
             ";\" :: \"r\"(at) : \"memory\");\n");
}

}  // namespace

void AddBarrierFunctions(DialectText* dialect) { dialect->AddFunction("barriers", std::string(kBarriers)); }

// The numbers of the fields are defined in the description of tensormap.replace in the PTX ISA.
std::string DescribeFunction(DialectText* dialect, const std::string& name, const TensorMap& map) {
  constexpr int64_t kUnsigned16 = 1;
  const int64_t swizzle = map.row_bytes == 128 ? 3 : map.row_bytes == 64 ? 2 : 1;
  std::string fields = SetConstant("rank", static_cast<int64_t>(map.sizes.size()) - 1);
  for (size_t d = 0; d < map.sizes.size(); ++d) {
    fields += SetItem("box_dim", "b32", d, map.box[d]);
    fields += SetItem("global_dim", "b32", d, map.sizes[d]);
    if (d > 0) fields += SetItem("global_stride", "b64", d - 1, map.strides[d - 1]);
    fields += SetItem("element_stride", "b32", d, 1);
  }
  fields += SetConstant("elemtype", kUnsigned16);
  fields += SetConstant("interleave_layout", 0);
  fields += SetConstant("swizzle_mode", swizzle);
  fields += SetConstant("fill_mode", 0);
  dialect->AddFunction(
      name, Cat("FN void ", name, "(u8* draft, const void* tensor) {\n",
                "  const u32 at = shared_address(draft);\n  ((u32*)draft)[threadIdx.x % 32] = 0;\n  __syncwarp();\n"
                "  if (is_elected()) {\n"
                "    asm volatile(\"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;\"\n"
                "                 :: \"r\"(at), \"l\"(tensor) : \"memory\");\n",
                fields, "  }\n}\n"));
  return name;
}

std::string CopyBoxFunction(DialectText* dialect, size_t rank) {
  std::string name = Cat("copy_box_", rank);
  std::string parameters;
  std::string positions;
  std::string operands;
  for (size_t d = 0; d < rank; ++d) {
    parameters += Cat(", int x", d);
    positions += Cat(d == 0 ? "" : ", ", "%", d + 3);
    operands += Cat(", \"r\"(x", d, ")");
  }
  dialect->AddFunction(
      name,
      Cat("FN void ", name, "(void* to, const TensorMap* map, u64* barrier", parameters, ") {\n",
          "  asm volatile(\"cp.async.bulk.tensor.", rank,
          "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\"\n               \" [%0], [%1, {", positions,
          "}], [%2];\"\n               :: \"r\"(shared_address(to)), \"l\"(map), \"r\"(shared_address(barrier))",
          operands, "\n               : \"memory\");\n}\n"));
  return name;
}

// The owners stay in the L2 cache: a launch whose first step is to read one from memory takes 1 us longer. The release
// needs no fence, because TMA has read the descriptors: the tiles have arrived. The exchange acquires, so that a block
// writes a descriptor after the previous owner's end.
void AddTensorMaps(DialectText* dialect, size_t count) {
  dialect->AddFunction("tensor_maps", Cat(R"(struct __align__(128) TensorMap {
  u8 bytes[128];
};
__device__ TensorMap tensor_maps[)",
                                          kTensorMapOwners, "][", count, R"(];
__device__ u32 tensor_map_owners[)",
                                          kTensorMapOwners, R"(];
FN u64 keep_in_cache() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
FN int claim_tensor_maps() {
  u32 unit;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
  const u64 keep = keep_in_cache();
  u32 at = unit * )",
                                          kOwnersOfUnit, R"( % )", kTensorMapOwners, R"(;
  for (;;) {
    u32 taken;
    asm volatile("atom.acquire.gpu.global.exch.L2::cache_hint.b32 %0, [%1], 1, %2;"
                 : "=r"(taken) : "l"(tensor_map_owners + at), "l"(keep) : "memory");
    if (taken == 0) return (int)at;
    at = (at + 1) % )",
                                          kTensorMapOwners, R"(;
  }
}
FN void publish_tensor_map(const u8* draft, TensorMap* map) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
               :: "l"(map), "r"(shared_address(draft)) : "memory");
}
FN void begin_to_use(const TensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
}
FN void release_tensor_maps(int at) {
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.b32 [%0], 0, %1;"
               :: "l"(tensor_map_owners + at), "l"(keep_in_cache()) : "memory");
}
)"));
}

}  // namespace telemetry::worker::codegen::text
