#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace telemetry::exporter {

// A temporary folder that is removed with the object.
class TempFolder {
 public:
  TempFolder() : path_(Make()) {}
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // Returns the names of the entries.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.insert(entry.path().filename());
    return names;
  }

 private:
  static std::string Make() {
    std::string pattern = std::filesystem::temp_directory_path() / "export_test.XXXXXX";
    return mkdtemp(pattern.data()) == nullptr ? throw std::filesystem::filesystem_error("mkdtemp", {}) : pattern;
  }

  const std::string path_;
};

}  // namespace telemetry::exporter
