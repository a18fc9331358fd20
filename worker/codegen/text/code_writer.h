#pragma once

#include <cstddef>
#include <string>

#include "proto/record/strings.h"

namespace telemetry::worker::codegen::text {

// A buffer of C source lines that indents them by nesting depth. Not thread-safe.
class CodeWriter {
 public:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    text_.append(2 * depth_, ' ');
    text_ += record::Cat(parts...);
    text_ += '\n';
  }
  // Appends the line "... {" and indents the following lines until Close().
  template <typename... Parts>
  void Open(const Parts&... parts) {
    Line(parts..., parts_separator<Parts...>(), "{");
    ++depth_;
  }
  void Close(const std::string& after = "") {
    --depth_;
    Line("}", after);
  }
  const std::string& text() const { return text_; }

 private:
  template <typename... Parts>
  static constexpr const char* parts_separator() {
    return sizeof...(Parts) == 0 ? "" : " ";
  }

  std::string text_;
  size_t depth_ = 0;
};

}  // namespace telemetry::worker::codegen::text
