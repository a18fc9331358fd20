#pragma once

#include <filesystem>
#include <string>

namespace telemetry::storage {

// A folder of a test's own, gone when the test is over.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace telemetry::storage
