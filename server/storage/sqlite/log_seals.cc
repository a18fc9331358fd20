#include "server/storage/sqlite/log_seals.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

namespace telemetry::storage::sqlite {
namespace {

struct Entry {
  uint32_t number;
  uint32_t seal;
};

}  // namespace

LogSeals::~LogSeals() {
  if (fd_ >= 0) close(fd_);
}

LogSeals::Pages LogSeals::Read(const std::string& database) {
  Pages pages;
  std::ifstream file(SealsPath(database), std::ios::binary);
  Entry entry = {};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof entry)) {
    // Frames without a seal leave zeros.
    if (entry.number != 0) pages[entry.number].push_back(entry.seal);
  }
  return pages;
}

void LogSeals::Store(uint32_t frame, uint32_t number, uint32_t seal) {
  if (fd_ < 0) fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const Entry entry = {.number = number, .seal = seal};
  [[maybe_unused]] const ssize_t written = pwrite(fd_, &entry, sizeof entry, static_cast<off_t>(frame * sizeof entry));
}

void LogSeals::Clear() {
  [[maybe_unused]] const int result = fd_ >= 0 ? ftruncate(fd_, 0) : truncate(path_.c_str(), 0);
}

}  // namespace telemetry::storage::sqlite
