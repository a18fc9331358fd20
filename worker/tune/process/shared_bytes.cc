#include "worker/tune/process/shared_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "absl/strings/str_cat.h"

namespace telemetry::worker::tune::process {
namespace {

// Seals the size. If it could change, access to a byte could kill the process (SIGBUS).
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::Status MemoryError(const char* operation, size_t size_bytes) {
  const std::string message =
      absl::StrCat(operation, " failed for ", size_bytes, " bytes of shared memory: ", std::strerror(errno));
  const bool is_short = errno == ENOMEM || errno == ENOSPC || errno == EMFILE || errno == ENFILE || errno == EFBIG;
  return is_short ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

int Allocate(int fd, size_t size_bytes) {
  if (size_bytes == 0) return 0;
  // fallocate does not fail in time: the kernel allocates page after page until it has to kill a process.
  if (size_bytes > AvailableBytes()) {
    errno = ENOMEM;
    return -1;
  }
  int result = 0;
  do {
    result = fallocate(fd, 0, 0, static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

size_t AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  size_t kib = 0;
  while (file >> name >> kib) {
    if (name == "MemAvailable:") return kib << 10;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

SharedBytes::SharedBytes(SharedBytes&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

SharedBytes& SharedBytes::operator=(SharedBytes&& other) noexcept {
  SharedBytes moved(std::move(other));
  std::swap(fd_, moved.fd_);
  std::swap(data_, moved.data_);
  std::swap(size_bytes_, moved.size_bytes_);
  return *this;
}

SharedBytes::~SharedBytes() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
}

absl::StatusOr<SharedBytes> SharedBytes::Create(const std::string& name, size_t size_bytes) {
  OwnedFd fd(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return MemoryError("memfd_create", size_bytes);
  if (Allocate(fd.get(), size_bytes) != 0) return MemoryError("fallocate", size_bytes);
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return MemoryError("sealing", size_bytes);
  return Map(std::move(fd), size_bytes);
}

absl::StatusOr<SharedBytes> SharedBytes::CreateCopy(const std::string& name, absl::Span<const std::byte> bytes) {
  absl::StatusOr<SharedBytes> shared = Create(name, bytes.size());
  if (shared.ok() && !bytes.empty()) std::memcpy(shared->data_, bytes.data(), bytes.size());
  return shared;
}

absl::StatusOr<SharedBytes> SharedBytes::Open(OwnedFd fd) {
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  struct stat stat_of_fd = {};
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(fd.get(), &stat_of_fd) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("descriptor ", fd.get(), " is not shared memory of a fixed size from SharedBytes::Create"));
  }
  return Map(std::move(fd), static_cast<size_t>(stat_of_fd.st_size));
}

absl::StatusOr<SharedBytes> SharedBytes::Map(OwnedFd fd, size_t size_bytes) {
  if (size_bytes == 0) return SharedBytes(std::move(fd), nullptr, 0);
  void* data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return MemoryError("mmap", size_bytes);
  return SharedBytes(std::move(fd), static_cast<std::byte*>(data), size_bytes);
}

}  // namespace telemetry::worker::tune::process
