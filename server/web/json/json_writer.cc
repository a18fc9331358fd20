#include "server/web/json/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "proto/record/json.h"

namespace telemetry::web::json {

void JsonWriter::Key(std::string_view key) {
  Separate();
  record::AppendJsonString(key, &out_);
  out_ += ": ";
  needs_comma_ = false;
}

void JsonWriter::Value(double value) {
  if (!std::isfinite(value)) return Value(nullptr);
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  Raw({digits.data(), static_cast<size_t>(end - digits.data())});
}

void JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  needs_comma_ = true;
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_.push_back(bracket);
  needs_comma_ = false;
}

void JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  needs_comma_ = true;
}

void JsonWriter::Separate() {
  if (needs_comma_) out_ += ", ";
  needs_comma_ = false;
}

void JsonWriter::AppendInt(int64_t value) { Raw(std::to_string(value)); }

void JsonWriter::AppendText(std::string_view text, size_t most_bytes) {
  Separate();
  record::AppendJsonString(CleanText(text, most_bytes), &out_);
  needs_comma_ = true;
}

}  // namespace telemetry::web::json
