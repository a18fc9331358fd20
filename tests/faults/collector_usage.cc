#include "tests/faults/collector_usage.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace telemetry::faults {
namespace {

// Returns the bytes of all files in the folder. Files may be created and removed during the count.
uint64_t BytesIn(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code is_gone;
    const uint64_t size = at->file_size(is_gone);
    if (!is_gone) bytes += size;
  }
  return bytes;
}

}  // namespace

size_t OpenFiles(pid_t pid) {
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::directory_iterator at(absl::StrCat("/proc/", pid, "/fd"), error), end; !error && at != end;
       at.increment(error)) {
    ++count;
  }
  return count;
}

CollectorUsage::CollectorUsage(pid_t pid, std::string folder)
    : pid_(pid), folder_(std::move(folder)), thread_([this] {
        do {
          Look();
        } while (!end_.WaitForNotificationWithTimeout(absl::Milliseconds(100)));
      }) {}

CollectorUsage::~CollectorUsage() {
  end_.Notify();
  thread_.join();
}

void CollectorUsage::Look() {
  const size_t files = OpenFiles(pid_);
  const uint64_t bytes = BytesIn(folder_);
  absl::MutexLock lock(&mutex_);
  most_files_ = std::max(most_files_, files);
  most_disk_bytes_ = std::max(most_disk_bytes_, bytes);
}

size_t CollectorUsage::most_files() const {
  absl::MutexLock lock(&mutex_);
  return most_files_;
}

uint64_t CollectorUsage::most_disk_bytes() const {
  absl::MutexLock lock(&mutex_);
  return most_disk_bytes_;
}

}  // namespace telemetry::faults
