#pragma once

// What a row says of its config: the words of Helion's CSV.
namespace telemetry::worker::tune::status {

inline constexpr char kStarted[] = "started";  // about to be measured, so that a hang can be seen
inline constexpr char kOk[] = "ok";
inline constexpr char kError[] = "error";
inline constexpr char kTimeout[] = "timeout";
inline constexpr char kPeerCompilationFail[] = "peer_compilation_fail";
inline constexpr char kFiltered[] = "filtered";
inline constexpr char kDeduplicated[] = "deduplicated";  // its source is that of a config before it

}  // namespace telemetry::worker::tune::status
