#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/spec/specification.h"

namespace telemetry::worker::spec {

// The text of a kernel's source as it is compiled, hashed and recorded.
//
// The text is the identity of a kernel (a run's kernel_source). So that results stay comparable when only a comment or
// the layout changes, comments become a space, spaces and tabs next to each other become one space, and trailing spaces
// and empty lines disappear. Line breaks stay, because the preprocessor needs them; strings and character constants are
// unchanged. Two sources with the same text have the same tokens in the same lines.

// Returns true for letters, digits and "_", of which names and keywords consist.
constexpr bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the text without comments and layout. An unclosed comment or string ends with the text.
std::string NormalizeSource(std::string_view source);

// Reads a kernel file and puts the files of `#include "name"` in the place of the directives, if they are found beside
// the including file or in the folders of -I options. Directives that are not found, and `#include <name>`, stay for
// the compiler. A file with `#pragma once` is put once. The result is normalised. NOT_FOUND: there is no kernel file.
// INVALID_ARGUMENT: files include each other, includes are nested deeper than 64, or the text exceeds 16 MiB.
absl::StatusOr<std::string> ReadSource(const std::string& file, const std::string& folder,
                                       const std::vector<std::string>& options);

// The compiler options of a specification by their meaning.
struct CompilerOptions {
  std::vector<std::string> include_folders;  // -I
  std::vector<std::string> defines;          // -D, as lines "#define NAME VALUE"
  std::vector<std::string> others;           // passed to the compiler
};
// INVALID_ARGUMENT: an option has a line break, or -I or -D has no value.
absl::StatusOr<CompilerOptions> SplitOptions(const std::vector<std::string>& options);

}  // namespace telemetry::worker::spec
