#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace telemetry::client {

// A small file system in memory, mounted on a folder. Only this thread and the threads that it starts later can see it.
class SmallDisk {
 public:
  SmallDisk(std::string folder, uint64_t size_bytes) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    mounted_ = HaveMountsOfOwn() && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("none", folder_.c_str(), "tmpfs", 0, absl::StrCat("size=", size_bytes).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Returns false if the system does not allow this user to mount a file system.
  bool mounted() const { return mounted_; }

  uint64_t free_bytes() const { return std::filesystem::space(folder_).available; }

  // Fills the remaining space.
  void Fill() const {
    std::ofstream file(FillerPath(), std::ios::binary | std::ios::app);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) continue;
  }
  void MakeRoom() const { std::filesystem::remove(FillerPath()); }

 private:
  std::string FillerPath() const { return folder_ + "/filler"; }

  // Enters a mount namespace of its own: directly as root, otherwise as root of a user namespace.
  static bool HaveMountsOfOwn() {
    if (unshare(CLONE_NEWNS) == 0) return true;
    const std::string map = absl::StrCat("0 ", getuid(), " 1");
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    return static_cast<bool>((std::ofstream("/proc/self/uid_map") << map).flush());
  }

  const std::string folder_;
  bool mounted_ = false;
};

}  // namespace telemetry::client
