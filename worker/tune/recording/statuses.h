#pragma once

// The values of a row's status, as in Helion's CSV.
namespace telemetry::worker::tune::recording::status {

inline constexpr char kStarted[] = "started";  // about to be measured, so that a hang is visible
inline constexpr char kOk[] = "ok";
inline constexpr char kError[] = "error";
inline constexpr char kTimeout[] = "timeout";
inline constexpr char kPeerCompilationFail[] = "peer_compilation_fail";
inline constexpr char kFiltered[] = "filtered";
inline constexpr char kDeduplicated[] = "deduplicated";  // its source equals that of an earlier config

}  // namespace telemetry::worker::tune::recording::status
