#include "tests/temp_folder.h"

#include <stdlib.h>

namespace telemetry {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", pattern, {});
  path_ = pattern;
}

TempFolder::~TempFolder() { std::filesystem::remove_all(path_); }

std::set<std::string> TempFolder::Names() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.insert(entry.path().filename());
  return names;
}

}  // namespace telemetry
