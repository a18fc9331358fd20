#include "worker/device/dtype.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/record/strings.h"

namespace telemetry::worker::device {

using record::AbslView;

std::string_view ShortName(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kI32:
      return "i32";
    case DType::kBool:
      return "bool";
    case DType::kI8:
      return "i8";
    case DType::kI16:
      return "i16";
    case DType::kI64:
      return "i64";
    case DType::kU8:
      return "u8";
    case DType::kU16:
      return "u16";
    case DType::kU32:
      return "u32";
    case DType::kU64:
      return "u64";
  }
  return "unknown";
}

std::string_view TorchName(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "torch.float32";
    case DType::kF16:
      return "torch.float16";
    case DType::kBF16:
      return "torch.bfloat16";
    case DType::kI32:
      return "torch.int32";
    case DType::kBool:
      return "torch.bool";
    case DType::kI8:
      return "torch.int8";
    case DType::kI16:
      return "torch.int16";
    case DType::kI64:
      return "torch.int64";
    case DType::kU8:
      return "torch.uint8";
    case DType::kU16:
      return "torch.uint16";
    case DType::kU32:
      return "torch.uint32";
    case DType::kU64:
      return "torch.uint64";
  }
  return "unknown";
}

absl::StatusOr<DType> ParseDType(std::string_view text) {
  std::string allowed;
  for (const DType dtype : kAllDTypes) {
    if (text == ShortName(dtype) || text == TorchName(dtype)) return dtype;
    absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", AbslView(ShortName(dtype)), " (", AbslView(TorchName(dtype)),
                    ")");
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", AbslView(text), "\" is not a dtype; these are: ", allowed));
}

}  // namespace telemetry::worker::device
