#include "worker/tune/compile/code_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/file.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "worker/device/compile_options.h"

namespace telemetry::worker::tune::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashBytes = 32;
// Larger files are not code of a kernel.
constexpr uint64_t kMostFileBytes = uint64_t{64} << 20;

// One file of the folder.
struct Entry {
  fs::path path;
  uint64_t bytes = 0;
  fs::file_time_type used;
};

absl::StatusOr<std::string> ReadAll(const std::string& path) {
  ASSIGN_OR_RETURN(const client::File file, client::File::Open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  ASSIGN_OR_RETURN(const uint64_t size, file.Size());
  if (size > kMostFileBytes) return absl::DataLossError("too large");
  std::string bytes(size, '\0');
  ASSIGN_OR_RETURN(const size_t read, file.ReadAt(0, bytes.data(), bytes.size()));
  bytes.resize(read);
  // The time of the last change is the time of the last use.
  futimens(file.fd(), nullptr);
  return bytes;
}

// Writes a file that appears complete or not at all, except after a power cut: its hash shows that. Nothing waits for
// the disk.
absl::Status WriteAll(const std::string& path, const std::string& bytes) {
  const std::string unfinished = absl::StrCat(path, ".", getpid());
  absl::Status status;
  {
    ASSIGN_OR_RETURN(client::File file,
                     client::File::Open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW));
    status = file.Write(bytes);
  }
  if (status.ok() && rename(unfinished.c_str(), path.c_str()) != 0) status = client::ErrnoStatus("rename", path);
  if (!status.ok()) unlink(unfinished.c_str());
  return status;
}

}  // namespace

bool CodeFolder::MayKeep(const CompileRequest& request) {
  if (request.is_opencl()) return false;
  // "#include" may have spaces after the "#"; other directives are rarely written with the word.
  return !absl::StrContains(request.source(), "include");
}

std::string CodeFolder::PathOf(const CompileRequest& request, const std::string& compiler) const {
  std::string key = absl::StrCat(compiler, "\n");
  for (const std::string& option : device::CudaCompileOptions(request.target())) absl::StrAppend(&key, option, "\n");
  // The source is last: the lines before it cannot be mistaken for a part of it, since their number is fixed.
  return absl::StrCat(path_, "/", record::Sha256Hex(absl::StrCat(key, request.source())));
}

std::string CodeFolder::PathOf(const std::string& name) const {
  // The key of code begins with the name of a compiler.
  return absl::StrCat(path_, "/", record::Sha256Hex(absl::StrCat("text\n", name)));
}

// Returns the bytes that StoreAt kept.
std::optional<std::string> CodeFolder::FindAt(const std::string& path) const {
  absl::StatusOr<std::string> bytes = ReadAll(path);
  if (!bytes.ok() || bytes->size() < kHashBytes) return std::nullopt;
  const std::string hash = bytes->substr(bytes->size() - kHashBytes);
  bytes->resize(bytes->size() - kHashBytes);
  if (record::Sha256(*bytes) != hash) return std::nullopt;
  return *std::move(bytes);
}

void CodeFolder::StoreAt(const std::string& path, std::string bytes) const {
  if (!client::MakeFolders(path_).ok()) return;
  bytes += record::Sha256(bytes);
  WriteAll(path, bytes).IgnoreError();
}

std::optional<std::string> CodeFolder::FindText(const std::string& name) const { return FindAt(PathOf(name)); }

void CodeFolder::StoreText(const std::string& name, const std::string& text) const { StoreAt(PathOf(name), text); }

std::optional<CompileReply> CodeFolder::Find(const CompileRequest& request, const std::string& compiler) const {
  if (!MayKeep(request)) return std::nullopt;
  const std::optional<std::string> bytes = FindAt(PathOf(request, compiler));
  CompileReply reply;
  if (!bytes || !reply.ParseFromString(*bytes)) return std::nullopt;
  return reply;
}

void CodeFolder::Store(const CompileRequest& request, const std::string& compiler, const CompileReply& reply) const {
  const auto code = static_cast<absl::StatusCode>(reply.code());
  if (!MayKeep(request) || (code != absl::StatusCode::kOk && code != absl::StatusCode::kInvalidArgument)) return;
  StoreAt(PathOf(request, compiler), reply.SerializeAsString());
}

absl::Status CodeFolder::Trim(uint64_t limit_bytes) const {
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    // A file that another process removes meanwhile has no size; it is not counted.
    std::error_code gone;
    Entry entry = {.path = it->path(), .bytes = it->file_size(gone), .used = it->last_write_time(gone)};
    if (gone) continue;
    bytes += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return absl::UnavailableError(absl::StrCat("cannot list ", path_, ": ", error.message()));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (bytes <= limit_bytes) break;
    absl::Status removed = client::RemoveFile(entry.path.string());
    if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
    bytes -= entry.bytes;
  }
  return absl::OkStatus();
}

}  // namespace telemetry::worker::tune::compile
