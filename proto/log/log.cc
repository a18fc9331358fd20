#include "proto/log/log.h"

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/time/time.h"

namespace telemetry::log {
namespace {

std::atomic<Format> format_of_lines = Format::kText;

// Marks lines of this library, whose text is already formatted, among the lines of others. The address identifies the
// mark, so that no text can imitate it.
constexpr char kOurs[] = "telemetry::log";

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kCritical:
      break;
  }
  return spdlog::level::critical;
}

void Append(std::string_view text, spdlog::memory_buf_t& line) { line.append(text.data(), text.data() + text.size()); }

std::string_view View(spdlog::string_view_t text) { return {text.data(), text.size()}; }

class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(Format format) : format_(format) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const std::string time =
        absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromChrono(message.time), absl::UTCTimeZone());
    const std::string_view level = View(spdlog::level::to_string_view(message.level));
    const bool ours = message.source.funcname == static_cast<const char*>(kOurs);
    const std::string_view payload = View(message.payload);
    if (format_ == Format::kJson) {
      Append("{\"time\": \"" + time + "\", \"level\": \"", line);
      Append(level, line);
      Append("\", ", line);
      Append(ours ? std::string(payload) : JsonMembers(payload, {}), line);
      Append("}\n", line);
      return;
    }
    Append(time + " ", line);
    message.color_range_start = line.size();
    Append(level, line);
    message.color_range_end = line.size();
    Append(" ", line);
    Append(ours ? std::string(payload) : OneLine(payload), line);
    Append("\n", line);
  }

  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LineFormatter>(format_); }

 private:
  const Format format_;
};

}  // namespace

void SetUp(Format format, std::string_view level) {
  format_of_lines = format;
  auto logger = std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_formatter(std::make_unique<LineFormatter>(format));
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

void Write(Level level, std::string_view message, Fields fields) {
  spdlog::logger* const logger = spdlog::default_logger_raw();
  if (!logger->should_log(ToSpdlog(level))) return;
  const std::string line = format_of_lines == Format::kJson ? JsonMembers(message, fields) : TextLine(message, fields);
  logger->log(spdlog::source_loc{kOurs, 1, kOurs}, ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace telemetry::log
