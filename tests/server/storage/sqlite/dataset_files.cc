#include "tests/server/storage/sqlite/dataset_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace telemetry::storage::sqlite {
namespace {

constexpr const char* kSuffixes[] = {"", "-wal", ".acked", ".seals"};

}  // namespace

Files ReadFiles(const std::string& database) {
  Files files;
  for (const char* suffix : kSuffixes) {
    std::ifstream file(database + suffix, std::ios::binary);
    if (file) files[suffix] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

void WriteFiles(const Files& files, const std::string& database) {
  for (const auto& [suffix, bytes] : files) {
    std::ofstream(database + suffix, std::ios::binary) << bytes;
  }
}

MemoryFolder::MemoryFolder() {
  std::string pattern = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/telemetry-XXXXXX"
                                                                  : testing::TempDir() + "/telemetry-XXXXXX";
  path_ = mkdtemp(pattern.data());
}

MemoryFolder::~MemoryFolder() { std::filesystem::remove_all(path_); }

}  // namespace telemetry::storage::sqlite
