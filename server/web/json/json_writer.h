#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "server/web/json/clean_text.h"

namespace telemetry::web::json {

// A text of the dataset that is shown whole, up to kWholeTextBytes.
struct Whole {
  std::string_view text;
};

// Appends JSON to a text. Texts are cleaned (CleanText) and cut for lists; NaN and the infinities become null. The
// caller keeps the structure valid.
class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string* out) : out_(*out) {}

  void BeginObject() { Open('{'); }
  void BeginObject(std::string_view key) { Key(key), Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void BeginArray(std::string_view key) { Key(key), Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view key);

  void Value(std::nullptr_t) { Raw("null"); }
  void Value(bool value) { Raw(value ? "true" : "false"); }
  void Value(double value);
  void Value(std::string_view text) { AppendText(text, kListTextBytes); }
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(const std::string& text) { Value(std::string_view(text)); }
  void Value(Whole whole) { AppendText(whole.text, kWholeTextBytes); }
  template <typename Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>) void Value(Integer value) {
    AppendInt(static_cast<int64_t>(value));
  }
  template <typename T>
  void Value(const std::optional<T>& value) {
    value.has_value() ? Value(*value) : Value(nullptr);
  }
  // Appends a text that is JSON already.
  void Raw(std::string_view json);

  template <typename T>
  void Field(std::string_view key, const T& value) {
    Key(key);
    Value(value);
  }

  size_t size() const { return out_.size(); }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();
  void AppendInt(int64_t value);
  void AppendText(std::string_view text, size_t most_bytes);

  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace telemetry::web::json
