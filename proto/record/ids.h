#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::record {

// The identities of FORMATS.md. All hashes are SHA-256; hex is lower-case.
std::string Sha256(std::string_view bytes);     // 32 raw bytes
std::string Sha256Hex(std::string_view bytes);  // 64 digits

// True for 64 lower-case hex digits: what a run_id, kernel_id or sample_id looks like.
bool IsHexId(std::string_view id);

// sha256(kernel_source + settings_signature), the signature as SettingsSignature gives it.
std::string KernelId(std::string_view kernel_source, std::string_view settings_signature);

// "static_shapes=True" (or False), then ", index_dtype=torch.int64" where the settings have one. Empty optional: the
// settings have no static_shapes.
std::optional<std::string> SettingsSignature(const Json& settings);

// pr2750: sha256(kernel_id \0 input_shapes \0 dtypes \0 hardware).
std::string RunIdPr2750(std::string_view kernel_id, std::string_view input_shapes, std::string_view dtypes,
                        std::string_view hardware);

// helion: sha256(kernel_source \0 signature \0 input_shapes \0 dtypes \0 hardware). `settings` null: no settings.
std::string RunIdHelion(std::string_view kernel_source, const Json& settings, std::string_view input_shapes,
                        std::string_view dtypes, std::string_view hardware);

// "@helion.kernel(config=helion.<config_text>, <settings_signature>)".
std::string Decorator(std::string_view config_text, std::string_view settings_signature);

// The settings signature in a decorator of that form for that config; empty optional: another form.
std::optional<std::string_view> SignatureOfDecorator(std::string_view decorator, std::string_view config_text);

// 64 digits: sha256(kernel_source + decorator).
std::string SampleId(std::string_view kernel_source, std::string_view decorator);

// The first 8 bytes of sha256(canonical JSON of config), read big-endian: the 16 digits as a number.
uint64_t ConfigId(const Json& config);
std::string FormatConfigId(uint64_t config_id);  // 16 digits
absl::StatusOr<uint64_t> ParseConfigId(
    std::string_view digits);  // INVALID_ARGUMENT: not 16 lower-case digits, or all 0

std::string HexEncode(std::string_view bytes);
absl::StatusOr<std::string> HexDecode(std::string_view digits);  // INVALID_ARGUMENT: odd length or no hex digits

// CRC-32C (Castagnoli, RFC 3720) continued from `crc`; 0 to begin.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace telemetry::record
