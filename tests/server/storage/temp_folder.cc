#include "tests/server/storage/temp_folder.h"

#include <stdlib.h>

namespace telemetry::storage {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "telemetry-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TempFolder::~TempFolder() { std::filesystem::remove_all(path_); }

}  // namespace telemetry::storage
