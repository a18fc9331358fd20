#include "proto/record/ids.h"

#include <algorithm>
#include <initializer_list>

#include "proto/record/python_repr.h"
#include "proto/record/strings.h"

namespace telemetry::record {
namespace {

constexpr std::string_view kDecoratorHead = "@helion.kernel(config=helion.";
constexpr int kConfigIdDigits = 16;

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string HashOfParts(std::initializer_list<std::string_view> parts) {
  std::string joined;
  for (const std::string_view part : parts) joined.append(part).push_back('\0');
  joined.pop_back();
  return Sha256Hex(joined);
}

// Returns the settings that enter a helion run_id, joined in helion's form.
std::string HelionSignature(const Json& settings) {
  static constexpr std::string_view kNames[] = {
      "allow_warp_specialize",   "backend",          "debug_dtype_asserts",
      "dot_precision",           "fast_math",        "index_dtype",
      "pallas_collective_id",    "pallas_interpret", "pallas_topk_recall_target",
      "persistent_reserved_sms", "static_shapes",    "triton_do_not_specialize",
  };
  std::string signature;
  for (const std::string_view name : kNames) {
    const Json* value = settings.Find(name);
    if (value == nullptr) continue;  // this version of helion does not have the setting
    signature += Cat(signature.empty() ? "" : ", ", name, "=", PythonStr(*value));
  }
  return signature;
}

}  // namespace

bool IsHexId(std::string_view id) { return id.size() == kRunIdDigits && IsLowerHex(id); }

bool IsRunIdPrefix(std::string_view text) {
  return text.size() >= kShortestRunIdPrefix && text.size() <= kRunIdDigits && IsLowerHex(text);
}

std::string KernelId(std::string_view kernel_source, std::string_view settings_signature) {
  return Sha256Hex(Cat(kernel_source, settings_signature));
}

std::optional<std::string> SettingsSignature(const Json& settings) {
  const Json* static_shapes = settings.Find("static_shapes");
  if (static_shapes == nullptr) return std::nullopt;
  std::string signature = Cat("static_shapes=", PythonStr(*static_shapes));
  const Json* index_dtype = settings.Find("index_dtype");
  if (index_dtype != nullptr && !index_dtype->is_null()) {
    signature += ", index_dtype=" + PythonStr(*index_dtype);
  }
  return signature;
}

std::string RunIdPr2750(std::string_view kernel_id, std::string_view input_shapes, std::string_view dtypes,
                        std::string_view hardware) {
  return HashOfParts({kernel_id, input_shapes, dtypes, hardware});
}

std::string RunIdHelion(std::string_view kernel_source, const Json& settings, std::string_view input_shapes,
                        std::string_view dtypes, std::string_view hardware) {
  return HashOfParts({kernel_source, HelionSignature(settings), input_shapes, dtypes, hardware});
}

std::string UnknownRunId(std::string_view attempt_id) {
  return HashOfParts({"autotune-telemetry unknown run 1", attempt_id});
}

std::string Decorator(std::string_view config_text, std::string_view settings_signature) {
  return Cat(kDecoratorHead, config_text, ", ", settings_signature, ")");
}

std::optional<std::string_view> SignatureOfDecorator(std::string_view decorator, std::string_view config_text) {
  const bool matches = TakePrefix(kDecoratorHead, &decorator) && TakePrefix(config_text, &decorator) &&
                       TakePrefix(", ", &decorator) && TakeSuffix(")", &decorator);
  if (!matches) return std::nullopt;
  return decorator;
}

std::string SampleId(std::string_view kernel_source, std::string_view decorator) {
  return Sha256Hex(Cat(kernel_source, decorator));
}

uint64_t ConfigId(const Json& config) {
  const std::string digest = Sha256(ToCanonicalJson(config));
  uint64_t id = 0;
  for (size_t i = 0; i < 8; ++i) id = id << 8 | static_cast<uint8_t>(digest[i]);
  return id;
}

std::string FormatConfigId(uint64_t config_id) { return Cat(absl::Hex(config_id, absl::kZeroPad16)); }

absl::StatusOr<uint64_t> ParseConfigId(std::string_view digits) {
  if (digits.size() != kConfigIdDigits || !IsLowerHex(digits)) {
    return absl::InvalidArgumentError("a config id is 16 lower-case hex digits");
  }
  uint64_t id = 0;
  for (const char c : digits) id = id << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  if (id == 0) return absl::InvalidArgumentError("a config id of zero");
  return id;
}

}  // namespace telemetry::record
