#include "worker/codegen/emit/generate.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/codegen/config_space.h"
#include "worker/codegen/emit/address.h"
#include "worker/codegen/emit/grid.h"
#include "worker/codegen/emit/producer_warp.h"
#include "worker/codegen/emit/region.h"
#include "worker/codegen/emit/tile_code.h"
#include "worker/codegen/plan/loaded_bytes.h"
#include "worker/codegen/plan/tiling.h"
#include "worker/codegen/text/dialect.h"

namespace telemetry::worker::codegen::emit {
namespace {

using record::Cat;

std::string FunctionName(const std::string& kernel) {
  std::string name = "kernel_";
  for (const char c : kernel) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

bool Uses64BitSize(const ir::Size& size, int tensor, int dimension) {
  return !size.is_static && size.tensor == tensor && size.dimension == dimension;
}

// Returns the parameters: tensors, the sizes and strides that only the launch knows, then scalars.
std::vector<Parameter> ListParameters(const ir::DeviceIr& ir) {
  std::vector<Parameter> parameters;
  for (size_t t = 0; t < ir.tensors.size(); ++t) {
    parameters.push_back({.kind = Parameter::Kind::kTensor, .index = static_cast<int>(t)});
  }
  for (size_t t = 0; t < ir.tensors.size(); ++t) {
    const int index = static_cast<int>(t);
    for (size_t d = 0; d < ir.tensors[t].sizes.size(); ++d) {
      const int dimension = static_cast<int>(d);
      // The parameter of a size has the name of the dimension that the size comes from.
      const bool is_extent = std::any_of(ir.axes.begin(), ir.axes.end(), [&](const ir::Axis& axis) {
        return Uses64BitSize(axis.extent, index, dimension);
      });
      if (is_extent) parameters.push_back({.kind = Parameter::Kind::kSize, .index = index, .dimension = dimension});
      if (!ir.tensors[t].strides[d].is_static) {
        parameters.push_back({.kind = Parameter::Kind::kStride, .index = index, .dimension = dimension});
      }
    }
  }
  for (size_t s = 0; s < ir.scalars.size(); ++s) {
    parameters.push_back({.kind = Parameter::Kind::kScalar, .index = static_cast<int>(s)});
  }
  return parameters;
}

std::string Declaration(const ir::DeviceIr& ir, const Parameter& parameter, bool may_alias) {
  switch (parameter.kind) {
    case Parameter::Kind::kTensor: {
      const bool stored = IsStored(ir, parameter.index);
      const std::string type = text::DialectText::StorageType(ir.tensors[static_cast<size_t>(parameter.index)].dtype);
      return Cat(stored ? "" : "const ", "GLOBAL ", type, "* ", may_alias ? "" : "RESTRICT ",
                 TensorName(parameter.index));
    }
    case Parameter::Kind::kSize:
      return Cat("const i64 size", parameter.index, "_", parameter.dimension);
    case Parameter::Kind::kStride:
      return Cat("const i64 stride", parameter.index, "_", parameter.dimension);
    case Parameter::Kind::kScalar: {
      const ir::ScalarParameter& scalar = ir.scalars[static_cast<size_t>(parameter.index)];
      return Cat("const ", TypeName(text::RegisterOf(scalar.dtype)), " scalar", parameter.index);
    }
  }
  return "";
}

// Reports whether the kernel writes to an argument, which may alias another argument.
bool StoresToArguments(const ir::DeviceIr& ir) {
  for (size_t t = 0; t < ir.tensors.size(); ++t) {
    if (!ir.tensors[t].is_output && IsStored(ir, static_cast<int>(t))) return true;
  }
  return false;
}

int64_t AlignedScratch(const TileCode& code) { return (code.scratch_bytes() + 15) / 16 * 16; }

int64_t SharedBytes(const TileCode& code) {
  const int64_t scratch = code.exchange_bytes() == 0 ? code.scratch_bytes() : AlignedScratch(code);
  return code.most_held_bytes() + scratch + code.exchange_bytes();
}

std::string Signature(const TileCode& code, const GeneratedKernel& kernel, bool is_cuda) {
  std::string list;
  const bool may_alias = StoresToArguments(code.ir());
  for (const Parameter& parameter : kernel.parameters) {
    list += Cat(list.empty() ? "" : ",\n    ", Declaration(code.ir(), parameter, may_alias));
  }
  if (is_cuda) {
    const std::string cluster =
        kernel.cluster_blocks == 1 ? "" : Cat("__cluster_dims__(", kernel.cluster_blocks, ", 1, 1) ");
    return Cat("extern \"C\" __global__ void ", cluster, "__launch_bounds__(", kernel.threads, ") ", kernel.function,
               "(\n    ", list, ") {\n");
  }
  // OpenCL aligns local memory to the type that the parameter points to; uint4 is sufficient for all contents.
  if (kernel.shared_bytes > 0) list += ",\n    LOCAL uint4* shared";
  return Cat("__kernel __attribute__((reqd_work_group_size(", kernel.threads, ", 1, 1))) void ", kernel.function,
             "(\n    ", list, ") {\n");
}

// Returns the declarations of the thread's index in the block and in the tile.
std::string ThreadIndex(const TileCode& code, bool is_cuda) {
  const std::string in_block = is_cuda ? "(int)threadIdx.x" : "(int)get_local_id(0)";
  if (code.plan().cluster_blocks == 1) return Cat("  const int thread = ", in_block, ";\n");
  return Cat("  const int local = ", in_block, ";\n  const int rank = (int)(blockIdx.x % ", code.plan().cluster_blocks,
             ");\n  const int thread = rank * ", code.plan().threads, " + local;\n");
}

// Returns the declarations of the parts of shared memory.
std::string SharedMemory(const TileCode& code, bool is_cuda) {
  std::string text;
  if (SharedBytes(code) == 0) return text;
  const int alignment = code.mma().by_warpgroups ? 1024 : 16;
  if (is_cuda) text += Cat("  extern __shared__ __align__(", alignment, ") u8 shared[];\n");
  if (code.most_held_bytes() == 0) {
    text += "  LOCAL u8* scratch = (LOCAL u8*)shared;\n";
  } else {
    text += Cat("  LOCAL u8* held = (LOCAL u8*)shared;\n  LOCAL u8* scratch = held + ", code.most_held_bytes(), ";\n");
  }
  if (code.exchange_bytes() == 0) return text;
  return Cat(text, "  LOCAL u8* exchange = scratch + ", AlignedScratch(code), ";\n  cluster_arrive();\n");
}

// Returns the declarations at the beginning of the kernel: the thread's index, shared memory, the thread's part of the
// position along each axis, and the beginning of each reduction axis.
std::string Head(const TileCode& code, size_t sets, bool is_cuda) {
  std::string text = Cat(ThreadIndex(code, is_cuda), SharedMemory(code, is_cuda));
  for (size_t set = 0; set < sets; ++set) {
    const plan::LayoutSet& layout = code.set(static_cast<int>(set));
    for (const int axis : layout.order) {
      if (layout.of(axis).ThreadCount() == 1) continue;
      text += Cat("  const int offset", layout.name, "_", axis, " = ", layout.of(axis).ThreadOffset("thread"), ";\n");
    }
  }
  for (const ir::Axis& axis : code.ir().axes) {
    if (axis.kind == ir::AxisKind::kReduction) {
      text += Cat("  const int ", TileCode::Begin(axis.id), " = 0;\n");
    }
  }
  return text;
}

// Returns the end of the kernel: with clusters, a wait that keeps the block's shared memory alive until the other
// blocks have read it.
std::string_view Tail(const TileCode& code) { return code.exchange_bytes() == 0 ? "" : "  cluster_wait();\n"; }

// Returns the uses with operands of dots from outside loops in shared memory if the dots then use wgmma. For mma these
// operands stay in registers.
plan::Uses ChooseUses(const plan::Plan& plan) {
  plan::Uses uses = plan::AnalyzeUses(plan, true);
  return plan::PlanMma(plan, uses).by_warpgroups ? uses : plan::AnalyzeUses(plan, false);
}

}  // namespace

absl::StatusOr<GeneratedKernel> Generate(const ir::DeviceIr& ir, const Config& config, const Target& target,
                                         const GenerateOptions& options) {
  ASSIGN_OR_RETURN(const Config complete, ConfigSpaceFor(ir).Normalize(config));
  ASSIGN_OR_RETURN(const plan::Plan plan, plan::MakePlan(ir, complete, target, options));
  const plan::Uses uses = ChooseUses(plan);
  ASSIGN_OR_RETURN(const plan::Layouts layouts, plan::ChooseLayouts(plan, uses));

  text::DialectText dialect(target, options);
  TileCode code(plan, uses, layouts, &dialect);
  std::optional<ProducerWarp> producer;
  if (layouts.producer) producer.emplace(code, *layouts.producer);
  if (producer) producer->Open();
  OpenTiles(code);
  RETURN_IF_ERROR(RegionEmitter(code, producer ? &*producer : nullptr).Emit(ir.root, {}).status());
  code.out().Close();
  if (producer) producer->Close();

  GeneratedKernel kernel = {
      .function = FunctionName(ir.kernel_name),
      .parameters = ListParameters(ir),
      .threads = static_cast<int>(plan.threads + (producer ? plan::kProducerThreads : 0)),
      .shared_bytes = static_cast<size_t>(SharedBytes(code)),
      .persistent_tiles = producer ? ResidentTiles(plan, SharedBytes(code)) : PersistentTiles(plan),
      .cluster_blocks = plan.cluster_blocks,
      .tensor_core_dots = static_cast<int>(layouts.mma.dots.size()),
      .spills = layouts.spills,
      .loaded_bytes = plan::LoadedBytes(plan, uses)};
  if (kernel.shared_bytes > target.shared_bytes_per_block) {
    return absl::ResourceExhaustedError(Cat("the kernel needs ", kernel.shared_bytes,
                                            " bytes of shared memory in a block; the device has ",
                                            target.shared_bytes_per_block, ": choose smaller blocks or fewer stages"));
  }
  for (const int axis : plan.grid) {
    const auto id = static_cast<size_t>(axis);
    kernel.grid.push_back({.extent = ir.axes[id].extent, .block = plan.blocks[id]});
  }
  const bool is_cuda = dialect.is_cuda();
  kernel.source = Cat(dialect.Prelude(), "\n", Signature(code, kernel, is_cuda),
                      Head(code, layouts.sets.size(), is_cuda), code.out().text(), Tail(code), "}\n");
  return kernel;
}

}  // namespace telemetry::worker::codegen::emit
