#pragma once

#include <string_view>

#include "proto/log/line.h"

namespace telemetry::log {

// The form of the lines on stderr, and the severity of a line.
enum class Format { kText, kJson };
// The severity of a log line, in ascending order.
enum class Level { kDebug, kInfo, kWarning, kError, kCritical };

// Sets the format and the lowest level ("debug", "info", "warning", "error") of the lines, which go to stderr. Lines
// that libraries write through spdlog use the same format. Must be called before other threads start.
void SetUp(Format format, std::string_view level);

// Writes a line:
//
//   2026-11-22T12:41:36.123456Z warning refused a call: method=/x/y peer=ipv4:127.0.0.1:4711 reason="no token"
//   {"time": "2026-11-22T12:41:36.123456Z", "level": "warning", "message": "refused a call", "method": "/x/y", ...}
//
// Thread-safe. The fields must not contain secrets.
void Write(Level level, std::string_view message, Fields fields);

inline void Debug(std::string_view message, Fields fields = {}) { Write(Level::kDebug, message, fields); }
inline void Info(std::string_view message, Fields fields = {}) { Write(Level::kInfo, message, fields); }
inline void Warn(std::string_view message, Fields fields = {}) { Write(Level::kWarning, message, fields); }
inline void Error(std::string_view message, Fields fields = {}) { Write(Level::kError, message, fields); }
inline void Critical(std::string_view message, Fields fields = {}) { Write(Level::kCritical, message, fields); }

}  // namespace telemetry::log
