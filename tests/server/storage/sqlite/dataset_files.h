#pragma once

#include <map>
#include <string>

namespace telemetry::storage {

// Contents of a dataset's files by the suffix of their names: "", "-wal", ".acked", ".seals".
using Files = std::map<std::string, std::string>;

Files ReadFiles(const std::string& database);
void WriteFiles(const Files& files, const std::string& database);

// A folder of a test's own, in memory where there is such a place: a sweep syncs often.
class MemoryFolder {
 public:
  MemoryFolder();
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  std::string database() const { return path_ + "/dataset.db"; }

 private:
  std::string path_;
};

}  // namespace telemetry::storage
