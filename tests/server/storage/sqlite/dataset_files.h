#pragma once

#include <map>
#include <string>

namespace telemetry::storage::sqlite {

// The contents of a dataset's files, by the suffix of their names: "", "-wal", ".acked", ".seals".
using Files = std::map<std::string, std::string>;

Files ReadFiles(const std::string& database);
void WriteFiles(const Files& files, const std::string& database);

// A temporary folder, in memory if possible, since a sweep fsyncs often.
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

}  // namespace telemetry::storage::sqlite
