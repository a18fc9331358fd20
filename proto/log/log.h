#pragma once

#include <string_view>

#include "proto/log/line.h"

namespace telemetry::log {

enum class Format { kText, kJson };
enum class Level { kDebug, kInfo, kWarning, kError, kCritical };

// Where lines go from now on: stderr, those of at least this level ("debug", "info", "warning", "error"). Lines that
// libraries write through spdlog look the same. To be called before there are other threads.
void SetUp(Format format, std::string_view level);

// Writes a line:
//
//   2026-11-22T12:41:36.123456Z warning refused a call: method=/x/y peer=ipv4:127.0.0.1:4711 reason="no token"
//   {"time": "2026-11-22T12:41:36.123456Z", "level": "warning", "message": "refused a call", "method": "/x/y", ...}
//
// Thread-safe. No secret may be among the fields.
void Write(Level level, std::string_view message, Fields fields);

inline void Debug(std::string_view message, Fields fields = {}) { Write(Level::kDebug, message, fields); }
inline void Info(std::string_view message, Fields fields = {}) { Write(Level::kInfo, message, fields); }
inline void Warn(std::string_view message, Fields fields = {}) { Write(Level::kWarning, message, fields); }
inline void Error(std::string_view message, Fields fields = {}) { Write(Level::kError, message, fields); }
inline void Critical(std::string_view message, Fields fields = {}) { Write(Level::kCritical, message, fields); }

}  // namespace telemetry::log
