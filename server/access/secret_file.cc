#include "server/access/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "proto/record/strings.h"

namespace telemetry::access {
namespace {

absl::Status WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t size = ::write(descriptor, content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return absl::ErrnoToStatus(errno, "cannot write");
    content.remove_prefix(static_cast<size_t>(size));
  }
  return ::fsync(descriptor) == 0 ? absl::OkStatus() : absl::ErrnoToStatus(errno, "cannot fsync");
}

}  // namespace

absl::Status WriteSecretFile(const std::string& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, record::Cat("cannot create ", path));
  const absl::Status status = WriteAll(descriptor, content);
  ::close(descriptor);
  return status.ok() ? status : absl::Status(status.code(), record::Cat(path, ": ", status.message()));
}

}  // namespace telemetry::access
