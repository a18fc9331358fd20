#include "worker/forward/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::worker::forward {
namespace {

constexpr uint32_t kEvents = IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;

}  // namespace

absl::StatusOr<std::unique_ptr<FolderWatch>> FolderWatch::Create(int stop_fd) {
  const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) {
    return absl::UnavailableError(absl::StrCat("cannot watch folders: ", std::strerror(errno),
                                               "; raise fs.inotify.max_user_instances, or use --once"));
  }
  return std::unique_ptr<FolderWatch>(new FolderWatch(fd, stop_fd));
}

std::unique_ptr<FolderWatch> FolderWatch::CreatePolling(int stop_fd) {
  return std::unique_ptr<FolderWatch>(new FolderWatch(/*inotify_fd=*/-1, stop_fd));
}

FolderWatch::~FolderWatch() {
  if (inotify_fd_ >= 0) close(inotify_fd_);
}

absl::Status FolderWatch::Add(const std::string& folder, bool below) {
  if (inotify_fd_ < 0) return absl::OkStatus();
  const int watch = inotify_add_watch(inotify_fd_, folder.c_str(), kEvents);
  if (watch < 0 && errno == ENOSPC) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot watch ", folder, ": raise fs.inotify.max_user_watches"));
  }
  if (watch < 0) return absl::OkStatus();
  Folder& watched = folders_[watch];
  watched = {folder, below || (watched.path == folder && watched.below)};
  if (!below) return absl::OkStatus();
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error); !error && entry != std::filesystem::end(entry);
       entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_directory(gone) || entry->is_symlink(gone)) continue;
    RETURN_IF_ERROR(Add(entry->path().string(), below));
  }
  return absl::OkStatus();
}

absl::StatusOr<FolderWatch::Changes> FolderWatch::Wait(absl::Duration limit) {
  Changes changes;
  // poll() ignores a negative descriptor.
  pollfd fds[] = {{inotify_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
  const int ready = poll(fds, 2, static_cast<int>(absl::ToInt64Milliseconds(limit)));
  if (ready < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "cannot wait for changes");
  changes.all = ready == 0;
  changes.stop = ready > 0 && fds[1].revents != 0;
  if (ready > 0 && fds[0].revents != 0) {
    RETURN_IF_ERROR(ReadEvents(&changes));
  }
  return changes;
}

absl::Status FolderWatch::ReadEvents(Changes* changes) {
  alignas(inotify_event) char buffer[64 * 1024];
  for (ssize_t size; (size = read(inotify_fd_, buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) changes->all = true;
      if ((event->mask & IN_IGNORED) != 0) folders_.erase(event->wd);
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end() || event->len == 0) continue;
      std::string path = absl::StrCat(folder->second.path, "/", event->name);
      if ((event->mask & IN_ISDIR) != 0) {
        // Files may have been written to the folder before the watch was added.
        changes->all = true;
        if (!folder->second.below) continue;
        RETURN_IF_ERROR(Add(path, /*below=*/true));
        continue;
      }
      changes->paths.push_back(std::move(path));
    }
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::forward
