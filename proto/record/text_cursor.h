#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "proto/record/strings.h"

namespace telemetry::record {

// Limit for the nesting of JSON texts and Python literals, because both parsers are recursive.
inline constexpr int kMaxDepth = 200;

// A position in a text that is being parsed. The text must outlive the cursor.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ >= text_.size(); }
  // Returns the next byte, or NUL at the end. A NUL in the text is not distinguished, because no grammar here allows it
  // outside of strings.
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  char Take() { return text_[at_++]; }
  size_t at() const { return at_; }
  std::string_view text() const { return text_; }
  std::string_view Rest() const { return text_.substr(at_); }
  std::string_view Since(size_t begin) const { return text_.substr(begin, at_ - begin); }
  void Skip(size_t count) { at_ += count; }

  bool TryTake(char wanted) {
    if (AtEnd() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool TryTake(std::string_view wanted) {
    if (Rest().substr(0, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  void SkipSpace() {
    while (!AtEnd() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }

  void SkipDigits() {
    while (!AtEnd() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  }

  // Returns INVALID_ARGUMENT with the offset of this position.
  absl::Status Error(std::string_view what) const { return absl::InvalidArgumentError(Cat(what, " at byte ", at_)); }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace telemetry::record
