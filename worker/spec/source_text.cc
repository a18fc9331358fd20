#include "worker/spec/source_text.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/spec/argument_data.h"
#include "worker/spec/file_bytes.h"

namespace telemetry::worker::spec {
namespace {

using record::Cat;

constexpr size_t kMostSourceBytes = 16 << 20;
constexpr size_t kMostIncludes = 64;  // nested

// Normalises a source character by character.
class Normalizer {
 public:
  explicit Normalizer(std::string_view source) : source_(source) {}

  std::string Run() {
    while (at_ < source_.size()) Step();
    EndLine();
    return std::move(text_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void Step() {
    const char c = Peek();
    if (c == '/' && Peek(1) == '/') {
      SkipLineComment();
    } else if (c == '/' && Peek(1) == '*') {
      const size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
      needs_space_ = true;
    } else if (c == 'R' && Peek(1) == '"' && !FollowsWord()) {
      CopyRawString();
    } else if (c == '"' || (c == '\'' && !FollowsWord())) {
      CopyString(c);
    } else if (c == '\n') {
      EndLine();
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      needs_space_ = true;
      ++at_;
    } else {
      Put(c);
      ++at_;
    }
  }

  // A comment goes on in the next line if its line ends with a backslash.
  void SkipLineComment() {
    while (at_ < source_.size() && Peek() != '\n') at_ += Peek() == '\\' ? 2 : 1;
    at_ = std::min(at_, source_.size());
    needs_space_ = true;
  }

  // True in 0x1'000 and in names that end with R.
  bool FollowsWord() const {
    if (needs_space_ || text_.empty()) return false;
    const char c = text_.back();
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  void CopyString(char quote) {
    Put(source_[at_++]);
    while (at_ < source_.size() && Peek() != '\n') {
      const char c = source_[at_++];
      text_ += c;
      if (c == '\\' && at_ < source_.size()) {
        text_ += source_[at_++];
      } else if (c == quote) {
        return;
      }
    }
  }

  void CopyRawString() {
    const size_t open = source_.find('(', at_);
    const std::string close =
        Cat(")", open == std::string_view::npos ? "" : source_.substr(at_ + 2, open - at_ - 2), "\"");
    const size_t end = open == std::string_view::npos ? open : source_.find(close, open);
    const size_t stop = end == std::string_view::npos ? source_.size() : end + close.size();
    Put(source_[at_++]);
    text_ += source_.substr(at_, stop - at_);
    at_ = stop;
  }

  void Put(char c) {
    if (needs_space_ && !text_.empty() && text_.back() != '\n') text_ += ' ';
    needs_space_ = false;
    text_ += c;
  }

  void EndLine() {
    needs_space_ = false;
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  }

  const std::string_view source_;
  size_t at_ = 0;
  std::string text_;
  bool needs_space_ = false;
};

// Returns the name in a line `#include "name"`; empty: another line.
std::string_view IncludedName(std::string_view line) {
  const auto skip = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip();
  if (!record::TakePrefix("#", &line)) return "";
  skip();
  if (!record::TakePrefix("include", &line)) return "";
  skip();
  if (!record::TakePrefix("\"", &line)) return "";
  const size_t end = line.find('"');
  return end == std::string_view::npos ? "" : line.substr(0, end);
}

class IncludeReader {
 public:
  explicit IncludeReader(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  absl::Status Append(const std::string& path) {
    ASSIGN_OR_RETURN(const std::string file, ReadFileBytes(path, kMostSourceBytes));
    const std::string name = Canonical(path);
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
      return absl::InvalidArgumentError(Cat("the files include each other: ", absl::StrJoin(open_, ", "), ", ", name));
    }
    if (open_.size() == kMostIncludes) {
      return absl::InvalidArgumentError(Cat(path, ": includes are nested deeper than ", kMostIncludes));
    }
    open_.push_back(name);
    RETURN_IF_ERROR(AppendLines(NormalizeSource(file), name));
    open_.pop_back();
    return absl::OkStatus();
  }

  std::string TakeText() { return std::move(text_); }

 private:
  static std::string Canonical(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, ignored);
    return canonical.empty() ? path : canonical.string();
  }

  absl::Status AppendLines(std::string_view lines, const std::string& name) {
    while (!lines.empty()) {
      const size_t end = lines.find('\n');
      const std::string_view line = lines.substr(0, end);
      lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
      if (line == "#pragma once") {
        once_.insert(name);
        continue;
      }
      const std::string_view included = IncludedName(line);
      const std::string path = included.empty() ? "" : Find(std::string(included), name);
      if (!path.empty()) {
        if (!once_.contains(Canonical(path))) RETURN_IF_ERROR(Append(path));
        continue;
      }
      text_ += Cat(line, "\n");
      if (text_.size() > kMostSourceBytes) {
        return absl::InvalidArgumentError(Cat("the source with its includes exceeds ", kMostSourceBytes, " bytes"));
      }
    }
    return absl::OkStatus();
  }

  std::string Find(const std::string& included, const std::string& from) const {
    std::vector<std::filesystem::path> folders = {std::filesystem::path(from).parent_path()};
    folders.insert(folders.end(), folders_.begin(), folders_.end());
    for (const std::filesystem::path& folder : folders) {
      std::error_code ignored;
      const std::filesystem::path path = folder / included;
      if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
    return "";
  }

  const std::vector<std::string> folders_;
  std::vector<std::string> open_;  // the files that are being read
  std::set<std::string> once_;     // the files with #pragma once
  std::string text_;
};

}  // namespace

std::string NormalizeSource(std::string_view source) { return Normalizer(source).Run(); }

absl::StatusOr<std::string> ReadSource(const std::string& file, const std::string& folder,
                                       const std::vector<std::string>& options) {
  ASSIGN_OR_RETURN(const CompilerOptions split, SplitOptions(options));
  std::vector<std::string> folders;
  for (const std::string& include : split.include_folders) {
    folders.push_back((std::filesystem::path(folder) / include).string());
  }
  ASSIGN_OR_RETURN(const std::string path, FindFile(file, folder));
  IncludeReader reader(std::move(folders));
  RETURN_IF_ERROR(reader.Append(path));
  return reader.TakeText();
}

absl::StatusOr<CompilerOptions> SplitOptions(const std::vector<std::string>& options) {
  CompilerOptions split;
  for (size_t i = 0; i < options.size(); ++i) {
    std::string_view option = options[i];
    if (option.find_first_of("\r\n") != std::string_view::npos) {
      return absl::InvalidArgumentError("a compiler option has a line break");
    }
    const bool is_define = option.starts_with("-D");
    if (!is_define && !option.starts_with("-I")) {
      if (!option.empty()) split.others.emplace_back(option);
      continue;
    }
    option.remove_prefix(2);
    // The value may be the next option, as on a command line.
    if (option.empty() && i + 1 < options.size()) option = options[++i];
    if (option.empty()) return absl::InvalidArgumentError(Cat("the compiler option ", options[i], " has no value"));
    if (!is_define) {
      split.include_folders.emplace_back(option);
      continue;
    }
    const size_t equals = option.find('=');
    const std::string_view value = equals == std::string_view::npos ? "1" : option.substr(equals + 1);
    split.defines.push_back(Cat("#define ", option.substr(0, equals), " ", value));
  }
  return split;
}

}  // namespace telemetry::worker::spec
