#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace telemetry::worker::forward {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void WriteFile(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline void AppendFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

// Replaces a file by a new one with the same name, as log rotation does.
inline void ReplaceFile(const std::string& path, std::string_view bytes) {
  WriteFile(path + ".new", bytes);
  std::filesystem::rename(path + ".new", path);
}

inline std::string Sample(std::string_view name) { return TestdataDir() + "/" + std::string(name); }

}  // namespace telemetry::worker::forward
