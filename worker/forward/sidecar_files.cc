#include "worker/forward/sidecar_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/record/sidecar/kernel_tuner_file.h"

namespace telemetry::worker::forward {
namespace {

namespace fs = std::filesystem;

// Longer suffixes come first, because ".sources.csv" also ends in ".csv".
constexpr std::string_view kSuffixes[] = {".sources.csv",        ".meta.jsonl",    ".meta.json",
                                          ".ir.jsonl",           ".wrapper.jsonl", ".trace.jsonl",
                                          ".measurements.jsonl", ".csv",           ".json"};

// Bytes of a .json file that tell whether Kernel Tuner wrote it.
constexpr size_t kBeginningBytes = size_t{64} << 10;

bool IsKernelTunerFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string beginning(kBeginningBytes, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<size_t>(file.gcount()));
  return record::sidecar::LooksLikeKernelTunerFile(beginning);
}

// Returns true for a file whose name alone does not show that it is a sidecar, and whose content shows that it is none.
bool IsOtherJson(const std::string& path) {
  return path.ends_with(".json") && !path.ends_with(".meta.json") && !IsKernelTunerFile(path);
}

bool AnyExists(const SidecarFiles& files) {
  std::error_code ignored;
  for (const std::string& path : {files.csv(), files.sources(), files.meta_lines(), files.meta(), files.ir_lines(),
                                  files.wrapper_lines(), files.measurement_lines(), files.trace()}) {
    if (fs::exists(path, ignored)) return true;
  }
  return IsKernelTunerFile(files.kernel_tuner());
}

// Finds the groups below a folder. Folders may disappear during the search, so only an existing folder that cannot be
// read is a problem.
void FindBelow(const fs::path& folder, std::set<std::string>* bases, std::vector<std::string>* problems) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::end(entry); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone) && !entry->is_symlink(gone)) {
      FindBelow(entry->path(), bases, problems);
    } else if (SidecarFiles group = GroupOfSidecar(entry->path().string());
               !group.base.empty() && !IsOtherJson(entry->path().string())) {
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

std::vector<SidecarFiles> FindSidecars(const std::string& path, bool may_come_later,
                                       std::vector<std::string>* problems) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    std::set<std::string> bases;
    const size_t problems_before = problems->size();
    FindBelow(path, &bases, problems);
    if (bases.empty() && problems->size() == problems_before) {
      problems->push_back(absl::StrCat("no sidecar (.csv, .meta.jsonl, ...) below the folder ", path));
    }
    std::vector<SidecarFiles> groups;
    groups.reserve(bases.size());
    for (const std::string& base : bases) groups.push_back({base});
    return groups;
  }
  const SidecarFiles named = GroupOfSidecar(path);
  const SidecarFiles replaced{fs::path(path).replace_extension().string()};
  for (const SidecarFiles& group : {named, replaced, SidecarFiles{path}}) {
    if (!group.base.empty() && AnyExists(group)) return {group};
  }
  problems->push_back(absl::StrCat("no sidecar at ", path,
                                   ": give a folder, a sidecar (.csv, .meta.jsonl, ...) or the base path that "
                                   "HELION_AUTOTUNE_LOG had"));
  if (!may_come_later || path.ends_with('/')) return {};
  return {named.base.empty() ? replaced : named};
}

}  // namespace telemetry::worker::forward
