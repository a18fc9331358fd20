#include "server/storage/sqlite/log_seals.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

namespace telemetry::storage::sqlite {

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

void LogSeals::Add(uint32_t frame, uint32_t number, uint32_t seal) {
  if (frame != first_added_ + added_.size()) {
    Write();
    first_added_ = frame;
  }
  added_.push_back({.number = number, .seal = seal});
}

void LogSeals::Write() {
  if (added_.empty()) return;
  if (fd_ < 0) fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] const ssize_t written =
      pwrite(fd_, added_.data(), added_.size() * sizeof(Entry), static_cast<off_t>(first_added_ * sizeof(Entry)));
  first_added_ += static_cast<uint32_t>(added_.size());
  added_.clear();
}

void LogSeals::Clear() {
  added_.clear();
  first_added_ = 0;
  [[maybe_unused]] const int result = fd_ >= 0 ? ftruncate(fd_, 0) : truncate(path_.c_str(), 0);
}

}  // namespace telemetry::storage::sqlite
