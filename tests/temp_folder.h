#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace telemetry {

// A temporary folder, which the destructor removes with its contents.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_.native(); }
  // Returns the path of an entry, which need not exist.
  std::string File(std::string_view name) const { return (path_ / name).string(); }
  // Returns the names of the entries.
  std::set<std::string> Names() const;

 private:
  std::filesystem::path path_;
};

}  // namespace telemetry
