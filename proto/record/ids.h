#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::record {

inline constexpr size_t kRunIdDigits = 64;
inline constexpr size_t kShortestRunIdPrefix = 4;  // of a run_id, in what a user may give instead of all its digits
// Sizes of binary ids, in bytes.
inline constexpr size_t kAttemptIdBytes = 16;
inline constexpr size_t kProducerIdBytes = 16;
inline constexpr size_t kDatasetIdBytes = 16;

// The identities of FORMATS.md. All hashes are SHA-256; hex is lower-case.
std::string Sha256(std::string_view bytes);     // 32 raw bytes
std::string Sha256Hex(std::string_view bytes);  // 64 digits

// Returns true for 64 lower-case hex digits, the form of run_id, kernel_id and sample_id.
bool IsHexId(std::string_view id);
// Returns true for a run_id or a prefix of one of at least kShortestRunIdPrefix digits, in lower case.
bool IsRunIdPrefix(std::string_view text);

// Returns sha256(kernel_source + settings_signature), with a signature from SettingsSignature().
std::string KernelId(std::string_view kernel_source, std::string_view settings_signature);

// Returns "static_shapes=True" (or False), followed by ", index_dtype=torch.int64" if the settings have an index_dtype.
// Returns nullopt if the settings have no static_shapes.
std::optional<std::string> SettingsSignature(const Json& settings);

// Returns the run_id of pr2750: sha256(kernel_id \0 input_shapes \0 dtypes \0 hardware).
std::string RunIdPr2750(std::string_view kernel_id, std::string_view input_shapes, std::string_view dtypes,
                        std::string_view hardware);

// Returns the run_id of helion: sha256(kernel_source \0 signature \0 input_shapes \0 dtypes \0 hardware). A null
// `settings` means no settings.
std::string RunIdHelion(std::string_view kernel_source, const Json& settings, std::string_view input_shapes,
                        std::string_view dtypes, std::string_view hardware);

// Returns the stand-in for the run of an attempt whose run is not known: the SHA-256 of "autotune-telemetry unknown run
// 1", a NUL and the attempt_id, as 64 digits.
std::string UnknownRunId(std::string_view attempt_id);

// Returns "@helion.kernel(config=helion.<config_text>, <settings_signature>)".
std::string Decorator(std::string_view config_text, std::string_view settings_signature);

// Returns the settings signature in a decorator of that form for that config, or nullopt for another form.
std::optional<std::string_view> SignatureOfDecorator(std::string_view decorator, std::string_view config_text);

// Returns sha256(kernel_source + decorator) as 64 digits.
std::string SampleId(std::string_view kernel_source, std::string_view decorator);

// Returns the first 8 bytes of sha256(canonical JSON of config) as a big-endian number.
uint64_t ConfigId(const Json& config);
std::string FormatConfigId(uint64_t config_id);  // 16 digits
// Returns INVALID_ARGUMENT unless the text is 16 lower-case digits, not all 0.
absl::StatusOr<uint64_t> ParseConfigId(std::string_view digits);

std::string HexEncode(std::string_view bytes);
// Returns INVALID_ARGUMENT for an odd length or a character that is not a hex digit.
absl::StatusOr<std::string> HexDecode(std::string_view digits);

// Returns the CRC-32C (Castagnoli, RFC 3720) of `bytes`, continued from `crc`. Pass 0 for the first part.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace telemetry::record
