#include "server/storage/sqlite/dataset_path.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace telemetry::storage::sqlite {

absl::StatusOr<std::string> RealPath(const std::string& path) {
  constexpr int kMostLinks = 40;  // the limit of the Linux kernel
  std::filesystem::path file = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(file, error); ++links) {
    if (links == kMostLinks) return absl::ErrnoToStatus(ELOOP, absl::StrCat("cannot open ", path));
    const std::filesystem::path target = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;
  }
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const std::filesystem::path real_folder = std::filesystem::canonical(folder, error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot open the folder ", folder.string()));
  return (real_folder / file.filename()).string();
}

absl::Status RefuseFolder(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return absl::OkStatus();
  const std::string file = (std::filesystem::path(path) / "telemetry.db").string();
  return absl::FailedPreconditionError(absl::StrCat(path, " is a folder: give a file in it, for example ", file));
}

absl::Status RequireFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) || error) return RefuseFolder(path);
  return absl::NotFoundError(absl::StrCat("there is no file ", path));
}

}  // namespace telemetry::storage::sqlite
