#include "worker/forward/sidecar_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace telemetry::forward {
namespace {

namespace fs = std::filesystem;

// Longer suffixes first: ".sources.csv" is also a ".csv".
constexpr std::string_view kSuffixes[] = {".sources.csv", ".meta.jsonl",    ".meta.json",
                                          ".ir.jsonl",    ".wrapper.jsonl", ".csv"};

bool AnyExists(const SidecarFiles& files) {
  std::error_code ignored;
  for (const std::string& path :
       {files.csv(), files.sources(), files.meta_lines(), files.meta(), files.ir_lines(), files.wrapper_lines()}) {
    if (fs::exists(path, ignored)) return true;
  }
  return false;
}

// Folders come and go while they are looked at: only what is there and cannot be read is a problem.
void FindBelow(const fs::path& folder, std::set<std::string>* bases, std::vector<std::string>* problems) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::end(entry); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone) && !entry->is_symlink(gone)) {
      FindBelow(entry->path(), bases, problems);
    } else if (SidecarFiles group = GroupOfSidecar(entry->path().string()); !group.base.empty()) {
      bases->insert(std::move(group.base));
    }
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
    problems->push_back(absl::StrCat("cannot read folder ", folder.string(), ": ", error.message(),
                                     "; nothing below it was forwarded"));
  }
}

}  // namespace

SidecarFiles GroupOfSidecar(const std::string& path) {
  for (std::string_view suffix : kSuffixes) {
    std::string_view base = path;
    if (!base.ends_with(suffix)) continue;
    base.remove_suffix(suffix.size());
    if (!base.empty() && base.back() != '/') {
      return {fs::path(base).lexically_normal().string()};
    }
  }
  return {};
}

absl::StatusOr<std::vector<SidecarFiles>> FindSidecars(const std::string& path, bool may_come_later,
                                                       std::vector<std::string>* problems) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    std::set<std::string> bases;
    FindBelow(path, &bases, problems);
    std::vector<SidecarFiles> groups;
    groups.reserve(bases.size());
    for (const std::string& base : bases) groups.push_back({base});
    return groups;
  }
  if (SidecarFiles group = GroupOfSidecar(path); !group.base.empty()) {
    if (may_come_later || AnyExists(group)) return std::vector<SidecarFiles>{group};
  }
  for (const std::string& base : {fs::path(path).replace_extension().string(), path}) {
    if (SidecarFiles group{base}; AnyExists(group)) return std::vector<SidecarFiles>{group};
  }
  if (may_come_later) {
    if (path.ends_with('/')) return std::vector<SidecarFiles>{};
    return std::vector<SidecarFiles>{{fs::path(path).replace_extension().string()}};
  }
  return absl::NotFoundError(absl::StrCat("no sidecar at ", path,
                                          ": give a folder, a sidecar (.csv, .meta.jsonl, ...) or the base path that "
                                          "HELION_AUTOTUNE_LOG had"));
}

}  // namespace telemetry::forward
