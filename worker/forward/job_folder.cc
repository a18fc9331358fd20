#include "worker/forward/job_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"

namespace telemetry::worker::forward {
namespace {

namespace fs = std::filesystem;

constexpr char kWriter[] = "/writer";
constexpr char kDelivered[] = "/delivered";
constexpr char kSpooled[] = "/spooled";
// A file of this size is not one that the Python package wrote.
constexpr size_t kMostBytes = size_t{64} << 10;

absl::Status RemoveError(const std::string& path, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat("cannot remove ", path, ": ", error.message()));
}

// Returns the contents of a small file without its last line end. Empty: the file cannot be read.
std::string ReadSmallFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Replaces a file atomically.
absl::Status ReplaceSmallFile(const std::string& path, const std::string& line) {
  const std::string next = path + ".next";
  std::ofstream file(next, std::ios::binary | std::ios::trunc);
  file << line << "\n";
  file.close();
  if (file && std::rename(next.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

}  // namespace

JobFolder JobFolder::Of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return JobFolder(parent.empty() ? "." : parent.string());
}

bool JobFolder::exists() const {
  std::error_code ignored;
  return fs::is_regular_file(path_ + kWriter, ignored);
}

bool JobFolder::has_ended() const {
  const int fd = open((path_ + kWriter).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const absl::Cleanup close_fd = [fd] { close(fd); };
  return flock(fd, LOCK_SH | LOCK_NB) == 0;
}

std::string JobFolder::origin() const {
  const absl::StatusOr<record::Json> writer = record::ParseJson(ReadSmallFile(path_ + kWriter));
  const record::Json* origin = writer.ok() ? writer->Find("origin") : nullptr;
  return origin != nullptr && origin->kind == record::Json::Kind::kString ? origin->text : "";
}

absl::Status JobFolder::WriteDelivered(const std::map<std::string, uint64_t>& bytes) const {
  record::Json object = record::Json::Object();
  for (const auto& [name, count] : bytes) {
    object.members.emplace_back(name, record::Json::Integer(static_cast<int64_t>(count)));
  }
  return ReplaceSmallFile(path_ + kDelivered, record::ToJson(object));
}

absl::Status JobFolder::WriteSpooled(uint64_t seq) const {
  return ReplaceSmallFile(path_ + kSpooled, absl::StrCat(seq));
}

std::optional<uint64_t> JobFolder::spooled_seq() const { return record::ParseUint64(ReadSmallFile(path_ + kSpooled)); }

absl::Status JobFolder::Remove() const {
  std::error_code error;
  // The writer goes last: a folder that is removed in part is still a job folder.
  for (fs::directory_iterator entry(path_, error); !error && entry != fs::end(entry); entry.increment(error)) {
    if (entry->path().filename() == &kWriter[1]) continue;
    fs::remove_all(entry->path(), error);
    if (error) return RemoveError(entry->path().string(), error);
  }
  fs::remove_all(path_, error);
  return error ? RemoveError(path_, error) : absl::OkStatus();
}

std::vector<JobFolder> JobFoldersIn(const std::string& folder) {
  std::vector<JobFolder> jobs;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::end(entry); entry.increment(error)) {
    JobFolder job(entry->path().lexically_normal().string());
    // A folder with a hidden name is being created.
    if (!entry->path().filename().string().starts_with('.') && job.exists()) jobs.push_back(std::move(job));
  }
  std::sort(jobs.begin(), jobs.end(), [](const JobFolder& a, const JobFolder& b) { return a.path() < b.path(); });
  return jobs;
}

absl::Status StartLock::Acquire() {
  const std::string path = path_ + "/start.lock";
  fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd_ < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  while (flock(fd_, LOCK_EX) != 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
  }
  return absl::OkStatus();
}

void StartLock::Release() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace telemetry::worker::forward
